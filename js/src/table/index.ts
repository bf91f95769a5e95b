// What both entries have of tables.

import { contains as wasmContains } from "../generated/table.js";
import { text } from "./check.js";
import { tableModule } from "./module.js";
import type { Containment } from "./types.js";

const CONTAINMENT = ["no", "yes", "unknown"] as const;

/** Does the directory contain the path? The same test that a table uses, for a policy beside it. */
export function contains(path: string, directory: string): Containment {
  tableModule.ready();
  return CONTAINMENT[wasmContains(text("path", path), text("directory", directory))] as Containment;
}

export { PoisonedError, RestoreError } from "./error.js";
export type { Grant, Lease, Pin, Refreshed } from "./lease.js";
export type { LeaseSession, SessionPinOptions } from "./session.js";
export { LeaseTable } from "./table.js";
export type {
  AcquireOptions,
  AcquireWhenFreeOptions,
  Ahead,
  Blocked,
  Bound,
  Conflict,
  Conflicting,
  Containment,
  Covering,
  CoveringLease,
  Fairness,
  LeaseEvent,
  LeaseFacts,
  LeaseRecord,
  LeaseStatus,
  LeaseTableOptions,
  Limits,
  Mode,
  PinOptions,
  PinRefused,
  PinStatus,
  RefreshRefused,
  Refused,
  Released,
  ReleaseWhat,
  Revoked,
  Status,
  TimedOut,
  WaitAttemptOptions,
  WaiterStatus,
  Wish,
} from "./types.js";
