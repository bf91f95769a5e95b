// The table in Node: one path acquired and released while others stand, beside what knows less.

import { createRequire } from "node:module";
import { LeaseTable } from "leasebook";
import { inTurns, path, paths } from "./measure.mjs";
import { alone, beside } from "./report.mjs";

/** Leases that stand meanwhile. */
const STANDING = 10_000;
/** Other paths that are asked for. */
const ASKED = 10_000;

/** What a pair may cost, in nanoseconds; and as many times what `async-lock` takes. */
const PAIR_MAX = 2_000;
const ASYNC_LOCK_MAX = 4;

export async function table({ turns, each }, peers) {
  const require = createRequire(peers);
  const asked = paths(STANDING, ASKED);
  const at = (n) => asked[n % ASKED];

  const leases = new LeaseTable();
  for (let n = 0; n < STANDING; n++) {
    if (!leases.acquire("standing", path(n)).granted) throw new Error(`${path(n)} was not granted`);
  }
  const ours = (count, from) => {
    for (let n = from; n < from + count; n++) {
      leases.acquire("a", at(n));
      leases.release("a", at(n));
    }
  };

  const map = new Map(Array.from({ length: STANDING }, (_, n) => [path(n), "standing"]));
  const exact = (count, from) => {
    for (let n = from; n < from + count; n++) {
      if (!map.has(at(n))) map.set(at(n), "a");
      if (map.get(at(n)) === "a") map.delete(at(n));
    }
  };

  const AsyncLock = require("async-lock");
  const lock = new AsyncLock();
  for (let n = 0; n < STANDING; n++) lock.acquire(path(n), (done) => void done, ignored);
  const callback = (count, from) => {
    for (let n = from; n < from + count; n++) lock.acquire(at(n), (done) => done(), ignored);
  };
  const promise = async (count, from) => {
    for (let n = from; n < from + count; n++) await lock.acquire(at(n), nothing);
  };

  const { Mutex } = require("async-mutex");
  const mutex = new Mutex();
  const mutual = async (count) => {
    for (let n = 0; n < count; n++) (await mutex.acquire())();
  };

  const [pair, plain, called, awaited, mutexed] = await inTurns(turns, each, ours, exact, callback, promise, mutual);
  if (leases.leases().length !== STANDING) throw new Error("a lease was left");
  const what = "acquire + release of one path, 10 000 standing leases";
  return [
    alone(what, pair, PAIR_MAX),
    beside(what, pair, "async-lock, with callbacks", called, ASYNC_LOCK_MAX),
    beside(what, pair, "async-lock, awaited", awaited),
    beside(what, pair, "async-mutex, one mutex, awaited", mutexed),
    beside(what, pair, "Map of exact paths", plain),
  ];
}

function nothing() {}

function ignored() {}
