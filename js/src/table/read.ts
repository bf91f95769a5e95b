// Answers of a table, read in the order in which the crate `leasebook-js` writes them.

import type { Reader } from "../wasm/module.js";
import { mode } from "./check.js";
import type {
  Blocked,
  Bound,
  Conflict,
  Covering,
  LeaseEvent,
  LeaseFacts,
  LeaseStatus,
  PinRefused,
  PinStatus,
  RefreshRefused,
  Refused,
  Released,
  Revoked,
  Status,
  WaiterStatus,
} from "./types.js";

const VERDICTS = ["other", "own", "unknown", "free"] as const;

/** How a token is shown. */
export function shownToken(number: number): string {
  return `pin-${number}`;
}

/** The number of a token as it is shown; none of what is no token. */
export function tokenNumber(token: string): number | undefined {
  const found = /^pin-(0|[1-9][0-9]{0,15})$/.exec(token);
  return found === null ? undefined : Number(found[1]);
}

export function leaseFacts(from: Reader, path: string, holder: string): LeaseFacts {
  return {
    path: from.textOr(path),
    holder: from.textOr(holder),
    mode: mode(from.flag()),
    generation: from.number(),
    acquiredAtMs: from.number(),
    ttlMs: from.number(),
    expiresAtMs: from.number(),
    heldForMs: from.number(),
    expiresInMs: from.number(),
  };
}

function texts(from: Reader): string[] {
  return from.list(() => from.text());
}

function bound(from: Reader): Bound {
  return { which: from.text(), limit: from.number() };
}

function conflict(from: Reader): Conflict {
  return {
    path: from.text(),
    leased: from.text(),
    holder: from.text(),
    mode: mode(from.flag()),
    heldForMs: from.number(),
    expiresInMs: from.number(),
    ended: from.flag(),
  };
}

function blocked(from: Reader): Blocked {
  const found = { conflicts: from.list(() => conflict(from)), truncated: from.flag(), blockers: texts(from) };
  return from.flag() ? { ...found, ahead: { holders: texts(from), position: from.number() } } : found;
}

/** A refusal; its first number is the length of its reason. */
export function refused(from: Reader): Refused {
  const reason = from.text() as Refused["reason"];
  const sentence = from.text();
  const granted = false;
  switch (reason) {
    case "invalid-ttl":
      return { granted, reason, sentence, ttlMs: from.number() };
    case "invalid-keep": {
      const given = from.flag();
      const keepMs = from.number();
      return { granted, reason, sentence, keepMs: given ? keepMs : undefined };
    }
    case "unevaluable-path":
      return { granted, reason, sentence, unevaluable: texts(from) };
    case "limit-exceeded":
      return { granted, reason, sentence, ...bound(from) };
    case "conflict":
    case "hold-and-wait":
      return { granted, reason, sentence, ...blocked(from) };
    case "deadlock":
      return { granted, reason, sentence, ...blocked(from), cycle: texts(from) };
    default:
      return { granted, reason, sentence };
  }
}

export function refreshRefused(from: Reader): RefreshRefused {
  const reason = from.text() as RefreshRefused["reason"];
  const sentence = from.text();
  if (reason === "invalid-ttl") return { refreshed: false, reason, sentence, ttlMs: from.number() };
  return { refreshed: false, reason, sentence };
}

export function released(from: Reader, length: number, asked: string, generation: number): Released {
  from.begin(length);
  if (!isDone(from)) {
    const reason = from.text() as "limit-exceeded";
    return { released: [], notHeld: [], refused: { reason, sentence: from.text(), ...bound(from) } };
  }
  const paths = from.list(() => from.textOr(asked));
  const notHeld = from.list(() => {
    if (from.flag()) return from.textOr(asked);
    from.number();
    return generation;
  });
  return { released: paths, notHeld };
}

/** An answer of something that came about begins with a 0, which no length of a reason is. */
export function isDone(from: Reader): boolean {
  if (from.peek() !== 0) return false;
  from.number();
  return true;
}

export function revoked(from: Reader): Revoked {
  if (from.flag()) return { revoked: true, holder: from.text(), path: from.text(), pending: from.flag() };
  return { revoked: false, reason: "stale", sentence: "no lease of that generation stands" };
}

export function pinRefused(from: Reader): PinRefused {
  const reason = from.text() as PinRefused["reason"];
  const sentence = from.text();
  switch (reason) {
    case "limit-exceeded":
      return { pinned: false, reason, sentence, ...bound(from) };
    case "not-held":
      return { pinned: false, reason, sentence, path: from.text() };
    default:
      return { pinned: false, reason, sentence };
  }
}

export function covering(from: Reader, holder: string, path: string): Covering {
  const verdict = VERDICTS[from.number()] as Covering["verdict"];
  const evaluable = from.flag();
  if (!from.flag() || verdict === "free") return { verdict: "free", evaluable };
  return { verdict, evaluable, holder: from.textOr(holder), leased: from.textOr(path), heldForMs: from.number() };
}

function leaseStatus(from: Reader): LeaseStatus {
  return { ...leaseFacts(from, "", ""), pins: from.number(), releasePending: from.flag() };
}

function waiterStatus(from: Reader): WaiterStatus {
  return {
    id: from.text(),
    holder: from.text(),
    paths: texts(from),
    modes: from.list(() => mode(from.flag())),
    blockers: texts(from),
    waitingForMs: from.number(),
  };
}

function pinStatus(from: Reader): PinStatus {
  return {
    token: shownToken(from.number()),
    holder: from.text(),
    generations: from.list(() => from.number()),
    pinnedForMs: from.number(),
  };
}

export function status(from: Reader): Status {
  return {
    leases: from.list(() => leaseStatus(from)),
    waiters: from.list(() => waiterStatus(from)),
    pins: from.list(() => pinStatus(from)),
  };
}

export function ids(from: Reader): string[] {
  return texts(from);
}

const ENDED = ["released", "expired", "revoked"] as const;
const WAITED = ["waiting", "ready", "lapsed", "cancelled"] as const;

export function event(from: Reader): LeaseEvent {
  const atMs = from.number();
  const what = from.number();
  if (what === 10) return { atMs, event: "dropped", count: from.number() };
  const holder = from.text();
  if (what === 9) return { atMs, event: "refused", holder, reason: from.text() };
  const waited = WAITED[what - 5];
  if (waited !== undefined) return { atMs, event: waited, holder, waiterId: from.text() };
  const generation = from.number();
  if (what === 1) return { atMs, event: "refreshed", holder, generation, expiresAtMs: from.number() };
  const path = from.text();
  const ended = ENDED[what - 2];
  if (ended !== undefined) return { atMs, event: ended, holder, generation, path, pending: from.flag() };
  return { atMs, event: "granted", holder, generation, path, mode: mode(from.flag()), expiresAtMs: from.number() };
}
