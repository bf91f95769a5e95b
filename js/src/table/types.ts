// What is asked of a table and what it answers: plain values.

/** How a path is claimed: beside other shared ones, or alone. */
export type Mode = "shared" | "exclusive";

/** In which order waiters are served: the attempt that lands first, or a queue. */
export type Fairness = "barge" | "fifo";

/** Does a directory contain a path? `unknown` where that cannot be told. */
export type Containment = "yes" | "no" | "unknown";

/** A path, and the mode asked for it; a plain text is asked for exclusively. */
export type Wish = string | { readonly path: string; readonly mode?: Mode | undefined };

/** The bounds of a table that a host may lower. */
export interface Limits {
  /** Standing leases; at most 1 000 000. */
  leases?: number | undefined;
  /** Registered waiters; at most 10 000. */
  waiters?: number | undefined;
  /** Wishes of all waiters together; at most 1 000 000. */
  wishes?: number | undefined;
  /** Standing pins; at most 100 000. */
  pins?: number | undefined;
  /** Standing leases of one holder. */
  leasesPerHolder?: number | undefined;
  /** Registered waiters of one holder. */
  waitersPerHolder?: number | undefined;
  /** Standing pins of one holder. */
  pinsPerHolder?: number | undefined;
}

/** How a table starts. */
export interface LeaseTableOptions {
  /** The ttl of a lease whose caller names none: 1 to 86 400 000 ms. 300 000 unless set. */
  defaultTtlMs?: number | undefined;
  /** `barge` unless set. */
  fairness?: Fairness | undefined;
  /** The bounds of the table. */
  limits?: Limits | undefined;
  /** How many events are kept for {@link LeaseTable.takeEvents} and for listeners; none unless set. */
  events?: number | undefined;
  /** Keep the changed records for {@link LeaseTable.takeRecords}. Off unless set. */
  journal?: boolean | undefined;
  /** How many bytes of memory all tables may take before this one refuses: 512 MiB unless set, 1 GiB at most. */
  memoryBytesMax?: number | undefined;
  /** The present moment in milliseconds, from an epoch of its own. One that never runs back unless set. */
  clock?: (() => number) | undefined;
}

/** How leases are asked for. */
export interface AcquireOptions {
  /** For how long: 1 to 86 400 000 whole milliseconds; the default of the table unless set. */
  ttlMs?: number | undefined;
}

/** How an attempt waits. */
export interface WaitAttemptOptions extends AcquireOptions {
  /** Wait even though the holder holds a lease. */
  allowHold?: boolean | undefined;
  /** How long the waiter is kept after its last attempt, in milliseconds; for ever unless set. Required in `fifo`. */
  keepMs?: number | undefined;
}

/** How long a call waits. */
export interface AcquireWhenFreeOptions extends WaitAttemptOptions {
  /** Ends the wait: the promise rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Ends the wait: the promise resolves with a refusal whose reason is `timed-out`. For ever unless set. */
  timeoutMs?: number | undefined;
}

/** What a lease says at one moment. */
export interface LeaseFacts {
  /** Its first spelling. */
  readonly path: string;
  readonly holder: string;
  readonly mode: Mode;
  /** Its id, strictly increasing over the new leases of a table: the fencing token. */
  readonly generation: number;
  /** When it was first granted, by the clock of the table; a refresh keeps it. */
  readonly acquiredAtMs: number;
  readonly ttlMs: number;
  /** When it expires; it is expired at this moment itself. */
  readonly expiresAtMs: number;
  readonly heldForMs: number;
  /** How long it has left; zero or below for one that only a pin keeps. */
  readonly expiresInMs: number;
}

/** A standing lease in the way of a wish. */
export interface Conflict {
  /** The path asked for, as asked. */
  readonly path: string;
  /** The path leased. */
  readonly leased: string;
  readonly holder: string;
  readonly mode: Mode;
  readonly heldForMs: number;
  readonly expiresInMs: number;
  /** It is released or expired, and only a pin keeps it. */
  readonly ended: boolean;
}

/** Who is ahead in the queue (`fifo` only). */
export interface Ahead {
  /** Their holders in queue order; at most 256. */
  readonly holders: string[];
  /** How many are ahead, plus one. */
  readonly position: number;
}

/** What is in the way. */
export interface Blocked {
  /** Empty where only the queue is in the way; at most 256. */
  readonly conflicts: Conflict[];
  /** There are more conflicts than are listed. */
  readonly truncated: boolean;
  /** Of a registered waiter: the holders in its way. */
  readonly blockers: string[];
  readonly ahead?: Ahead;
}

interface Refusal<Reason extends string> {
  readonly granted: false;
  readonly reason: Reason;
  /** The same for a person or a model. */
  readonly sentence: string;
}

/** A bound that was reached: which, and its value. */
export interface Bound {
  readonly which: string;
  readonly limit: number;
}

/** Leases or earlier waiters are in the way. */
export type Conflicting = Refusal<"conflict"> & Blocked;

/** Why leases were not granted. */
export type Refused =
  | Refusal<"invalid-holder" | "no-paths" | "waiter-id-taken" | "already-waiting">
  | (Refusal<"invalid-ttl"> & { readonly ttlMs: number })
  | (Refusal<"invalid-keep"> & { readonly keepMs: number | undefined })
  | (Refusal<"unevaluable-path"> & { readonly unevaluable: string[] })
  | (Refusal<"limit-exceeded"> & Bound)
  | Conflicting
  | (Refusal<"hold-and-wait"> & Blocked)
  | (Refusal<"deadlock"> & Blocked & { readonly cycle: string[] });

/** The wait was over before anything was granted; what was in the way last. */
export type TimedOut = Refusal<"timed-out"> & Blocked;

/** Why a lease was not refreshed. */
export type RefreshRefused = { readonly refreshed: false; readonly sentence: string } & (
  | { readonly reason: "invalid-ttl"; readonly ttlMs: number }
  | { readonly reason: "stale" }
);

/** What to release: a path, paths, or one lease by its generation. */
export type ReleaseWhat = string | readonly string[] | { readonly generation: number };

/** What a release did. */
export interface Released {
  /** The leases released, by their first spelling, in the order asked. */
  readonly released: string[];
  /** What is not held: paths as asked, a generation as its number. */
  readonly notHeld: (string | number)[];
  /** Only where more paths were named than one call may: nothing was released then. */
  readonly refused?: Bound & { readonly reason: "limit-exceeded"; readonly sentence: string };
}

/** What a revocation took away. */
export type Revoked =
  | {
      readonly revoked: true;
      readonly holder: string;
      readonly path: string;
      /** It is only marked, and goes at the last unpin. */
      readonly pending: boolean;
    }
  | { readonly revoked: false; readonly reason: "stale"; readonly sentence: string };

/** How leases are pinned. */
export interface PinOptions {
  /** `exclusive` unless set. */
  mode?: Mode | undefined;
  /** When the pin runs out by itself, by the clock of the table; never unless set. */
  deadlineMs?: number | undefined;
}

/** Why nothing was pinned. */
export type PinRefused = { readonly pinned: false; readonly sentence: string } & (
  | { readonly reason: "no-paths" }
  | ({ readonly reason: "limit-exceeded" } & Bound)
  | { readonly reason: "not-held"; readonly path: string }
);

/** The lease behind a verdict. */
export interface CoveringLease {
  readonly holder: string;
  readonly leased: string;
  readonly heldForMs: number;
}

/** What stands over a path, for one holder. */
export type Covering = {
  /** The path can be reasoned about; where it cannot, the verdict may still be `free`, and a guard tests this. */
  readonly evaluable: boolean;
} & (
  | ({ readonly verdict: "other" | "own" | "unknown" } & CoveringLease)
  | { readonly verdict: "free" }
);

/** A lease with what keeps it. */
export interface LeaseStatus extends LeaseFacts {
  /** How many pins keep it. */
  readonly pins: number;
  /** It was released or revoked, and goes at the last unpin. */
  readonly releasePending: boolean;
}

/** A registered waiter. */
export interface WaiterStatus {
  readonly id: string;
  readonly holder: string;
  readonly paths: string[];
  readonly modes: Mode[];
  /** The holders in its way; empty exactly where its next attempt would be granted. */
  readonly blockers: string[];
  readonly waitingForMs: number;
}

/** A standing pin. */
export interface PinStatus {
  readonly token: string;
  readonly holder: string;
  readonly generations: number[];
  readonly pinnedForMs: number;
}

/** Everything of one instant. */
export interface Status {
  readonly leases: LeaseStatus[];
  readonly waiters: WaiterStatus[];
  readonly pins: PinStatus[];
}

/** Something that happened, and when by the clock of the table. Missing one changes nothing. */
export type LeaseEvent = { readonly atMs: number } & (
  | {
      readonly event: "granted";
      readonly generation: number;
      readonly holder: string;
      readonly path: string;
      readonly mode: Mode;
      readonly expiresAtMs: number;
    }
  | { readonly event: "refreshed"; readonly generation: number; readonly holder: string; readonly expiresAtMs: number }
  | {
      readonly event: "released" | "expired" | "revoked";
      readonly generation: number;
      readonly holder: string;
      readonly path: string;
      readonly pending: boolean;
    }
  | {
      readonly event: "waiting" | "ready" | "lapsed" | "cancelled";
      readonly waiterId: string;
      readonly holder: string;
    }
  | { readonly event: "refused"; readonly holder: string; readonly reason: string }
  | { readonly event: "dropped"; readonly count: number }
);

/** What must be durable of a table; a later record of the same key takes the place of the earlier one. */
export type LeaseRecord =
  | {
      readonly record: "lease";
      readonly generation: number;
      readonly holder: string;
      readonly path: string;
      readonly mode: Mode;
      readonly acquiredAtMs: number;
      readonly ttlMs: number;
      readonly expiresAtMs: number;
      readonly releasePending: boolean;
    }
  | { readonly record: "lease-gone"; readonly generation: number }
  | {
      readonly record: "waiter";
      readonly id: string;
      readonly holder: string;
      readonly paths: readonly string[];
      readonly modes: readonly Mode[];
      readonly sinceMs: number;
      readonly lapsesAtMs: number | null;
      readonly place: number;
      readonly passed: readonly number[];
    }
  | { readonly record: "waiter-gone"; readonly id: string }
  | {
      readonly record: "pin";
      readonly token: string;
      readonly holder: string;
      readonly generations: readonly number[];
      readonly sinceMs: number;
      readonly deadlineMs: number | null;
    }
  | { readonly record: "pin-gone"; readonly token: string }
  | {
      readonly record: "counters";
      readonly nowMs: number;
      readonly lastGeneration: number;
      readonly lastPlace: number;
      readonly lastToken: number;
    };
