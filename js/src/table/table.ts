/// <reference lib="esnext.disposable" preserve="true" />
// The table: arguments are checked and cross, answers are read. Everything is decided in the wasm module.

import { Book } from "../generated/table.js";
import { AskedText } from "../wasm/asked.js";
import { Reader } from "../wasm/module.js";
import { pack } from "../wasm/pack.js";
import * as check from "./check.js";
import { systemClock } from "./clock.js";
import { PoisonedError, RestoreError } from "./error.js";
import { DISPOSE, Grant, Lease, Pin, type Refreshed } from "./lease.js";
import { tableModule } from "./module.js";
import * as read from "./read.js";
import { packRecords, record } from "./records.js";
import { LeaseSession } from "./session.js";
import { numbersOf } from "./start.js";
import type {
  AcquireOptions,
  AcquireWhenFreeOptions,
  Covering,
  LeaseEvent,
  LeaseRecord,
  LeaseTableOptions,
  Mode,
  PinOptions,
  PinRefused,
  RefreshRefused,
  Refused,
  ReleaseWhat,
  Released,
  Revoked,
  Status,
  TimedOut,
  WaitAttemptOptions,
  Wish,
} from "./types.js";
import { Watch } from "./watch.js";

/** What a constructor is given that makes a table of records; nobody outside can name it. */
const RESTORING = Symbol("restoring");

/**
 * The leases, waiters and pins of one namespace.
 *
 * A refusal is a value; an argument of the wrong type is a `TypeError` that names it. Every operation happens at the
 * moment that the clock of the table says.
 */
export class LeaseTable {
  #book: Book | undefined;
  #poison: PoisonedError | undefined;
  readonly #reader: Reader;
  readonly #holder: AskedText;
  readonly #path: AskedText;
  readonly #clock: () => number;
  readonly #isFifo: boolean;
  readonly #keepsEvents: boolean;
  #watch: Watch | undefined;
  #sessions = 0;

  /** An empty table. */
  constructor(options?: LeaseTableOptions);
  /** @internal */
  constructor(options: LeaseTableOptions | undefined, restoring: typeof RESTORING, records: Iterable<LeaseRecord>);
  constructor(options?: LeaseTableOptions, restoring?: typeof RESTORING, records: Iterable<LeaseRecord> = []) {
    const given = check.options(options);
    const numbers = numbersOf(given);
    this.#clock = given.clock ?? systemClock();
    this.#isFifo = given.fairness === "fifo";
    this.#keepsEvents = (given.events ?? 0) > 0;
    tableModule.ready();
    let book: Book;
    if (restoring === RESTORING) {
      const packed = packRecords(records);
      book = Book.restore(numbers, packed.numbers, packed.text);
    } else {
      book = new Book(numbers);
    }
    this.#reader = new Reader(tableModule, book.place());
    const from = this.#reader.begin(3);
    const made = from.number();
    if (made !== 1) {
      const [at, expected] = [from.text(), from.text()];
      book.free();
      if (made === 2) throw new RestoreError(at, expected);
      const option = at.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
      throw new TypeError(`options.${option}: expected ${expected}`);
    }
    this.#book = book;
    this.#holder = new AskedText(tableModule, (bytes) => book.room(false, bytes));
    this.#path = new AskedText(tableModule, (bytes) => book.room(true, bytes));
  }

  /** A table as records say: those of {@link records}, or all of {@link takeRecords} in their order. */
  static restore(records: Iterable<LeaseRecord>, options?: LeaseTableOptions): LeaseTable {
    return new LeaseTable(options, RESTORING, records);
  }

  /** Asks for leases: all of them, or none. */
  acquire(holder: string, wishes: Wish | readonly Wish[], options?: AcquireOptions): Grant | Refused {
    const book = this.#live();
    check.text("holder", holder);
    const ttlMs = options === undefined ? undefined : check.maybeNumber("ttlMs", check.options(options).ttlMs);
    const path = check.onePath(wishes);
    const now = this.now();
    if (path !== undefined) {
      let length: number;
      try {
        length = book.acquire(now, this.#holder.put(holder), this.#path.put(path), ttlMs);
      } catch (error) {
        throw this.#failed(error);
      }
      return this.#attempted(length, holder, [path]);
    }
    const asked = check.wishes(wishes);
    const text = asked.paths.join("");
    const length = this.#run(() => book.acquire_all(now, holder, text, asked.layout, ttlMs));
    return this.#attempted(length, holder, asked.paths);
  }

  /**
   * Tries like {@link acquire}; where that is a conflict, registers a waiter in the same step. Each further call under
   * the same id is another attempt. It never blocks: {@link acquireWhenFree} does.
   */
  waitAttempt(
    waiterId: string,
    holder: string,
    wishes: Wish | readonly Wish[],
    options?: WaitAttemptOptions,
  ): Grant | Refused {
    const book = this.#live();
    check.text("waiterId", waiterId);
    check.text("holder", holder);
    const given = check.options(options);
    const ttlMs = check.maybeNumber("ttlMs", given.ttlMs);
    const keepMs = check.maybeNumber("keepMs", given.keepMs);
    const allowHold = check.flag("allowHold", given.allowHold);
    const { paths, layout } = check.wishes(wishes);
    const now = this.now();
    const length = this.#run(() =>
      book.wait_attempt(now, waiterId, holder, paths.join(""), layout, ttlMs, allowHold, keepMs),
    );
    return this.#attempted(length, holder, paths);
  }

  /**
   * Waits for leases: resolves when they are granted, or refused for another reason than a conflict, such as
   * `deadlock`. The waiter of an aborted or timed-out call is gone at once, and nothing is granted to it.
   */
  async acquireWhenFree(
    holder: string,
    wishes: Wish | readonly Wish[],
    options?: AcquireWhenFreeOptions,
  ): Promise<Grant | Refused | TimedOut> {
    return this.#watched().wait(holder, wishes, check.options(options), this.#isFifo);
  }

  /** Takes a waiter out. `false`: there is none of this id. */
  cancelWait(waiterId: string): boolean {
    check.text("waiterId", waiterId);
    return this.#command((book, now) => book.cancel_wait(now, waiterId));
  }

  /** Gives a live lease a new ttl. It never makes a new lease and never revives an ended one. */
  refresh(holder: string, generation: number, options?: AcquireOptions): Refreshed | RefreshRefused {
    check.text("holder", holder);
    check.count("generation", generation);
    const ttlMs = check.maybeNumber("ttlMs", check.options(options).ttlMs);
    const from = this.#answer((book, now) => book.refresh(now, holder, generation, ttlMs));
    const answer = read.isDone(from)
      ? { refreshed: true as const, lease: new Lease(this, from, "", holder) }
      : read.refreshRefused(from);
    this.#changed();
    return answer;
  }

  /** Gives leases back: all of the holder, those of paths, or one. A pinned one stays in place, ended. */
  release(holder: string, what?: ReleaseWhat): Released {
    const book = this.#live();
    check.text("holder", holder);
    const now = this.now();
    const path = check.onePath(what);
    let length: number;
    let generation = 0;
    if (path !== undefined) {
      try {
        length = book.release_path(now, this.#holder.put(holder), this.#path.put(path));
      } catch (error) {
        throw this.#failed(error);
      }
    } else if (what === undefined) {
      length = this.#run(() => book.release_own(now, holder));
    } else if (typeof what === "object" && what !== null && "generation" in what) {
      generation = check.count("generation", what.generation);
      length = this.#run(() => book.release_generation(now, holder, generation));
    } else {
      const { text, lengths } = pack(check.paths("paths", what));
      length = this.#run(() => book.release_paths(now, holder, text, lengths));
    }
    const answer = read.released(this.#reader, length, path ?? "", generation);
    this.#changed();
    return answer;
  }

  /** Gives back everything of a holder, and drops its waiters: its run is over. Answers how many leases it had. */
  releaseHolder(holder: string): number {
    check.text("holder", holder);
    return this.#command((book, now) => book.release_holder(now, holder));
  }

  /** The same for every holder. */
  releaseAll(): number {
    return this.#command((book, now) => book.release_all(now));
  }

  /** The holder is known to be gone: its leases, waiters and pins go. Answers how many leases went. */
  endSession(holder: string): number {
    check.text("holder", holder);
    return this.#command((book, now) => book.end_session(now, holder));
  }

  /** Takes a lease away, by an operator. It waits for pins unless forced. */
  revoke(generation: number, options?: { readonly force?: boolean | undefined }): Revoked {
    check.count("generation", generation);
    const force = check.flag("force", check.options(options).force);
    const answer = read.revoked(this.#answer((book, now) => book.revoke(now, generation, force)));
    this.#changed();
    return answer;
  }

  /** What stands over a path for this holder, which would use it in this mode. */
  covering(holder: string, path: string, mode?: Mode): Covering {
    const book = this.#live();
    check.text("holder", holder);
    check.text("path", path);
    const isShared = check.shared("mode", mode);
    const now = this.now();
    try {
      const length = book.covering(now, this.#holder.put(holder), this.#path.put(path), isShared);
      return read.covering(this.#reader.begin(length), holder, path);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Keeps leases in place while a write is in flight. */
  pin(holder: string, paths: string | readonly string[], options?: PinOptions): Pin | PinRefused {
    check.text("holder", holder);
    const { text, lengths } = pack(check.paths("paths", paths));
    const given = check.options(options);
    const isShared = check.shared("mode", given.mode);
    const deadlineMs = check.maybeCount("deadlineMs", given.deadlineMs);
    const from = this.#answer((book, now) => book.pin(now, holder, text, lengths, isShared, deadlineMs));
    const answer = read.isDone(from) ? new Pin(this, read.shownToken(from.number())) : read.pinRefused(from);
    this.#changed();
    return answer;
  }

  /** Takes a pin away, by its token. `false`: there is no such pin. */
  unpin(token: string): boolean {
    const number = read.tokenNumber(check.text("token", token));
    return this.#command((book, now) => number !== undefined && book.unpin(now, number));
  }

  /** The ids of the waiters whose next attempt would be granted, in queue order. */
  ready(): string[] {
    return read.ids(this.#answer((book, now) => book.ready(now)));
  }

  /** The next moment at which time alone changes something; `undefined`: never. */
  nextDeadline(): number | undefined {
    const book = this.#live();
    const now = this.now();
    const deadline = this.#run(() => book.next_deadline(now));
    return deadline < 0 ? undefined : deadline;
  }

  /** All leases, in grant order. */
  leases(): Lease[] {
    const from = this.#answer((book, now) => book.leases(now));
    return from.list(() => new Lease(this, from, "", ""));
  }

  /** Everything, from one instant. */
  status(): Status {
    return read.status(this.#answer((book, now) => book.status(now)));
  }

  /** The events since the last call, oldest first; none unless the option `events` says how many to keep. */
  takeEvents(): LeaseEvent[] {
    const from = this.#answer((book) => book.take_events());
    return from.list(() => read.event(from));
  }

  /**
   * Calls the listener with each event, soon after the operation that led to it, and takes the events from
   * {@link takeEvents}. The table must keep events (option `events`). Answers what ends it.
   */
  subscribe(listener: (event: LeaseEvent) => void): () => void {
    if (typeof listener !== "function") throw check.wrong("listener", "a function", listener);
    this.#live();
    if (!this.#keepsEvents) {
      throw new TypeError("options.events: expected a number above 0 where events are listened to");
    }
    return this.#watched().subscribe(listener);
  }

  /** The whole table as records. */
  records(): LeaseRecord[] {
    const from = this.#answer((book) => book.records(false));
    return from.list(() => record(from));
  }

  /** The records that changed since the last call; none unless the option `journal` is set. */
  takeRecords(): LeaseRecord[] {
    const from = this.#answer((book) => book.records(true));
    return from.list(() => record(from));
  }

  /** The table for one holder: what a plugin is given that must not speak for another. */
  session(holder: string): LeaseSession {
    this.#live();
    return new LeaseSession(this, check.text("holder", holder), ++this.#sessions);
  }

  /** The present moment by the clock of the table. */
  now(): number {
    const now = this.#clock();
    if (typeof now !== "number" || !(now >= 0 && now < Infinity)) {
      throw new TypeError(`clock: expected a number of milliseconds from 0; it told ${String(now)}`);
    }
    return now;
  }

  /** Was the table disposed of? */
  get disposed(): boolean {
    return this.#book === undefined && this.#poison === undefined;
  }

  /** Ends the table and frees its memory. Calls that wait are rejected. */
  dispose(): void {
    const book = this.#book;
    this.#book = undefined;
    this.#watch?.end(new TypeError("the lease table is disposed of"));
    this.#watch = undefined;
    book?.free();
  }

  /** The same. */
  [DISPOSE](): void {
    this.dispose();
  }

  #live(): Book {
    if (this.#book !== undefined) return this.#book;
    throw this.#poison ?? new TypeError("the lease table is disposed of");
  }

  #watched(): Watch {
    this.#live();
    return (this.#watch ??= new Watch(this));
  }

  /** Has those looked at that wait. */
  #changed(): void {
    this.#watch?.changed();
  }

  #run<T>(operation: () => T): T {
    try {
      return operation();
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #answer(operation: (book: Book, now: number) => number): Reader {
    const book = this.#live();
    const now = this.now();
    return this.#reader.begin(this.#run(() => operation(book, now)));
  }

  #command<T>(operation: (book: Book, now: number) => T): T {
    const book = this.#live();
    const now = this.now();
    const answer = this.#run(() => operation(book, now));
    this.#changed();
    return answer;
  }

  #attempted(length: number, holder: string, paths: readonly string[]): Grant | Refused {
    const from = this.#reader.begin(length);
    const answer = read.isDone(from)
      ? new Grant(from.list((index) => new Lease(this, from, paths[index] ?? "", holder)))
      : read.refused(from);
    this.#watch?.attempted(holder, answer.granted);
    return answer;
  }

  /** What a failed operation throws: the table is lost where the module itself failed. */
  #failed(error: unknown): unknown {
    if (!(error instanceof WebAssembly.RuntimeError)) return error;
    this.#poison = new PoisonedError(error);
    this.#book = undefined;
    this.#watch?.end(this.#poison);
    this.#watch = undefined;
    return this.#poison;
  }
}

