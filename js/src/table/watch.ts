// Those who wait for a table: calls of `acquireWhenFree`, and listeners of events.
//
// It decides nothing. The table says who is ready; whoever is, tries again at once, in its order. Nothing of it runs
// inside an operation: what an operation led to is looked at in a microtask after it.

import * as check from "./check.js";
import type { Grant } from "./lease.js";
import type { LeaseTable } from "./table.js";
import type { AcquireWhenFreeOptions, LeaseEvent, Refused, TimedOut, WaitAttemptOptions, Wish } from "./types.js";

/** The longest that a timer of a runtime takes. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** How long a waiter of a queue is kept where the caller does not say, and how often it is renewed within that time. */
const KEEP_MS = 30_000;
const RENEWALS = 3;

type Answer = Grant | Refused | TimedOut;
type Conflicting = Extract<Refused, { reason: "conflict" }>;

/** A call that waits. */
interface Waiting {
  readonly id: string;
  readonly holder: string;
  /** Tries once more; `undefined`: it still waits. */
  readonly attempt: () => Answer | undefined;
  readonly settle: (answer: Answer) => void;
  readonly fail: (reason: unknown) => void;
}

export class Watch {
  readonly #table: LeaseTable;
  readonly #waiting = new Map<string, Waiting>();
  /** The same by their holders. */
  readonly #holders = new Map<string, Set<Waiting>>();
  readonly #listeners = new Set<(event: LeaseEvent) => void>();
  #ids = 0;
  #scheduled = false;
  #over = false;
  #alarm: ReturnType<typeof setTimeout> | undefined;

  constructor(table: LeaseTable) {
    this.#table = table;
  }

  wait(
    holder: string,
    wishes: Wish | readonly Wish[],
    options: AcquireWhenFreeOptions,
    isFifo: boolean,
  ): Promise<Answer> {
    const { timeoutMs } = options;
    const signal = check.signal(options.signal);
    if (check.maybeNumber("timeoutMs", timeoutMs) !== undefined) {
      check.count("timeoutMs", Math.ceil(timeoutMs as number));
    }
    signal?.throwIfAborted();
    // The wishes are those of this moment, whatever happens to the list meanwhile.
    const asked = Array.isArray(wishes) ? [...(wishes as readonly Wish[])] : (wishes as Wish);
    const keepMs = options.keepMs ?? (isFifo ? KEEP_MS : undefined);
    const attempted: WaitAttemptOptions = { ttlMs: options.ttlMs, allowHold: options.allowHold, keepMs };
    const id = `leasebook:${++this.#ids}`;
    const first = this.#table.waitAttempt(id, holder, asked, attempted);
    if (first.granted || first.reason !== "conflict") return Promise.resolve(first);
    let last: Conflicting = first;
    return new Promise<Answer>((resolve, reject) => {
      const timers: ReturnType<typeof setInterval>[] = [];
      const done = (): void => {
        timers.forEach(clearInterval);
        signal?.removeEventListener("abort", aborted);
        this.#remove(waiting);
        this.#rest();
      };
      const waiting: Waiting = {
        id,
        holder,
        attempt: () => {
          const answer = this.#table.waitAttempt(id, holder, asked, attempted);
          if (answer.granted || answer.reason !== "conflict") return answer;
          last = answer;
          return undefined;
        },
        settle: (answer) => {
          done();
          resolve(answer);
        },
        fail: (reason) => {
          done();
          reject(reason as Error);
        },
      };
      const aborted = (): void => {
        this.#drop(id);
        waiting.fail(signal?.reason);
      };
      const late = (): void => {
        this.#drop(id);
        waiting.settle({ ...last, reason: "timed-out", sentence: `timed out: ${last.sentence}` });
      };
      this.#add(waiting);
      signal?.addEventListener("abort", aborted, { once: true });
      if (timeoutMs !== undefined) timers.push(setTimeout(late, Math.min(timeoutMs, TIMER_MS_MAX)));
      if (keepMs !== undefined && keepMs > 0) {
        const every = Math.min(Math.max(1, keepMs / RENEWALS), TIMER_MS_MAX);
        timers.push(setInterval(() => this.#try(waiting), every));
      }
      this.changed();
    });
  }

  subscribe(listener: (event: LeaseEvent) => void): () => void {
    // The same function may listen twice.
    const own = (event: LeaseEvent): void => listener(event);
    this.#listeners.add(own);
    this.changed();
    return () => {
      this.#listeners.delete(own);
      this.#rest();
    };
  }

  /** An operation has changed the table. */
  changed(): void {
    if (this.#scheduled || this.#over) return;
    if (this.#waiting.size === 0 && this.#listeners.size === 0) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#settle();
    });
  }

  /** An attempt was made. A grant may close a cycle, which the waiters of its holder are told by their next attempt. */
  attempted(holder: string, granted: boolean): void {
    this.changed();
    const own = granted ? this.#holders.get(holder) : undefined;
    if (own !== undefined) queueMicrotask(() => [...own].forEach((waiting) => this.#try(waiting)));
  }

  /** The table is gone. */
  end(reason: unknown): void {
    this.#over = true;
    for (const waiting of [...this.#waiting.values()]) waiting.fail(reason);
    this.#listeners.clear();
    this.#rest();
  }

  #add(waiting: Waiting): void {
    this.#waiting.set(waiting.id, waiting);
    const own = this.#holders.get(waiting.holder);
    if (own === undefined) this.#holders.set(waiting.holder, new Set([waiting]));
    else own.add(waiting);
  }

  #remove(waiting: Waiting): void {
    this.#waiting.delete(waiting.id);
    const own = this.#holders.get(waiting.holder);
    own?.delete(waiting);
    if (own?.size === 0) this.#holders.delete(waiting.holder);
  }

  #settle(): void {
    if (this.#over) return;
    // Also where nobody waits: what time has ended by now is an event only when the table is asked something.
    for (const id of this.#table.ready()) {
      const waiting = this.#waiting.get(id);
      if (waiting !== undefined) this.#try(waiting);
    }
    this.#tell();
    this.#arm();
  }

  /** Tries for one who waits, and ends its wait where that is not in vain. */
  #try(waiting: Waiting): void {
    if (this.#over || !this.#waiting.has(waiting.id)) return;
    try {
      const answer = waiting.attempt();
      if (answer !== undefined) waiting.settle(answer);
    } catch (error) {
      waiting.fail(error);
    }
  }

  /** Takes the waiter of a call out, whose wait is over. */
  #drop(id: string): void {
    if (!this.#over) this.#table.cancelWait(id);
  }

  #tell(): void {
    if (this.#listeners.size === 0 || this.#over) return;
    for (const event of this.#table.takeEvents()) {
      for (const listener of this.#listeners) {
        try {
          listener(event);
        } catch (error) {
          // It is reported as any uncaught error is, and is no other listener's.
          queueMicrotask(() => {
            throw error;
          });
        }
      }
    }
  }

  /** Sets the alarm to the next moment at which time alone changes something. */
  #arm(): void {
    this.#disarm();
    if (this.#over || (this.#waiting.size === 0 && this.#listeners.size === 0)) return;
    const deadline = this.#table.nextDeadline();
    if (deadline === undefined) return;
    const delay = Math.min(Math.max(1, Math.ceil(deadline - this.#table.now())), TIMER_MS_MAX);
    this.#alarm = setTimeout(() => this.#settle(), delay);
    // Whoever waits for a lease keeps the program running; whoever only listens does not.
    if (this.#waiting.size === 0) (this.#alarm as { unref?: () => void }).unref?.();
  }

  #disarm(): void {
    clearTimeout(this.#alarm);
    this.#alarm = undefined;
  }

  /** Nobody may be left to wake. */
  #rest(): void {
    if (this.#waiting.size === 0 && this.#listeners.size === 0) this.#disarm();
  }
}
