/// <reference lib="esnext.disposable" preserve="true" />
// A table under one holder: nothing here takes a holder, so that who has it can neither speak for another nor end what
// is another's.

import * as check from "./check.js";
import { DISPOSE, type Grant, type Pin, type Refreshed } from "./lease.js";
import type { LeaseTable } from "./table.js";
import type {
  AcquireOptions,
  AcquireWhenFreeOptions,
  Covering,
  Mode,
  PinRefused,
  RefreshRefused,
  Refused,
  ReleaseWhat,
  Released,
  TimedOut,
  WaitAttemptOptions,
  Wish,
} from "./types.js";

/** How a session pins. */
export interface SessionPinOptions {
  /** `exclusive` unless set. */
  mode?: Mode | undefined;
  /** For how long at most, in milliseconds; until it is unpinned unless set. */
  forMs?: number | undefined;
}

/** A table bound to one holder. Its waiter ids are its own: the same id of another session is another waiter. */
export class LeaseSession {
  readonly #table: LeaseTable;
  readonly #prefix: string;
  /** For whom this session speaks. */
  readonly holder: string;

  /** @internal */
  constructor(table: LeaseTable, holder: string, number: number) {
    this.#table = table;
    this.#prefix = `session:${number}:`;
    this.holder = holder;
  }

  /** Grants all the wishes, or none of them. */
  acquire(wishes: Wish | readonly Wish[], options?: AcquireOptions): Grant | Refused {
    return this.#table.acquire(this.holder, wishes, options);
  }

  /** Grants all the wishes, or registers a waiter for them. */
  waitAttempt(waiterId: string, wishes: Wish | readonly Wish[], options?: WaitAttemptOptions): Grant | Refused {
    return this.#table.waitAttempt(this.#own(waiterId), this.holder, wishes, options);
  }

  /** Waits for the wishes. */
  acquireWhenFree(
    wishes: Wish | readonly Wish[],
    options?: AcquireWhenFreeOptions,
  ): Promise<Grant | Refused | TimedOut> {
    return this.#table.acquireWhenFree(this.holder, wishes, options);
  }

  /** Ends a waiter of this session. */
  cancelWait(waiterId: string): boolean {
    return this.#table.cancelWait(this.#own(waiterId));
  }

  /** The ids of the waiters of this session whose attempt would now be granted. */
  ready(): string[] {
    const own = this.#table.ready().filter((id) => id.startsWith(this.#prefix));
    return own.map((id) => id.slice(this.#prefix.length));
  }

  /** Gives a live lease of this session a new ttl. */
  refresh(generation: number, options?: AcquireOptions): Refreshed | RefreshRefused {
    return this.#table.refresh(this.holder, generation, options);
  }

  /** Gives leases of this session back: all, those of paths, or one. */
  release(what?: ReleaseWhat): Released {
    return this.#table.release(this.holder, what);
  }

  /** What stands over a path for this session. */
  covering(path: string, mode?: Mode): Covering {
    return this.#table.covering(this.holder, path, mode);
  }

  /** Keeps the live leases of this session that contain these paths in place. */
  pin(paths: string | readonly string[], options?: SessionPinOptions): Pin | PinRefused {
    const given = check.options(options);
    const forMs = check.maybeCount("forMs", given.forMs);
    const deadlineMs = forMs === undefined ? undefined : Math.min(this.#table.now() + forMs, Number.MAX_SAFE_INTEGER);
    const whole = deadlineMs === undefined ? undefined : Math.floor(deadlineMs);
    return this.#table.pin(this.holder, paths, { mode: given.mode, deadlineMs: whole });
  }

  /** Gives back everything: pins, leases, waiters. Answers how many leases it had. The session may begin anew. */
  end(): number {
    return this.#table.endSession(this.holder);
  }

  /** The same, where the table still stands. */
  [DISPOSE](): void {
    if (!this.#table.disposed) this.end();
  }

  #own(waiterId: string): string {
    return this.#prefix + check.text("waiterId", waiterId);
  }
}
