// How a table starts, as numbers in the order of the crate `leasebook-js`.

import { flag, kind, maybeCount, options as object, wrong } from "./check.js";
import type { LeaseTableOptions } from "./types.js";

/** In place of a number that is not set. */
const UNSET = -1;

export function numbersOf(given: Partial<LeaseTableOptions>): Float64Array {
  const limits = object(given.limits);
  const number = (name: string, value: unknown): number => maybeCount(`options.${name}`, value) ?? UNSET;
  const { fairness } = given;
  if (fairness !== undefined && fairness !== "barge" && fairness !== "fifo") {
    throw new TypeError(`options.fairness: expected "barge" or "fifo"; found ${kind(fairness)}`);
  }
  if (given.clock !== undefined && typeof given.clock !== "function") {
    throw wrong("options.clock", "a function", given.clock);
  }
  // A key that a stranger cannot know, so that paths cannot be made to collide. It shows in no answer.
  const key = crypto.getRandomValues(new Uint32Array(2));
  return Float64Array.of(
    ...key,
    number("limits.leases", limits.leases),
    number("limits.waiters", limits.waiters),
    number("limits.wishes", limits.wishes),
    number("limits.pins", limits.pins),
    number("limits.leasesPerHolder", limits.leasesPerHolder),
    number("limits.waitersPerHolder", limits.waitersPerHolder),
    number("limits.pinsPerHolder", limits.pinsPerHolder),
    number("events", given.events),
    number("defaultTtlMs", given.defaultTtlMs),
    number("memoryBytesMax", given.memoryBytesMax),
    fairness === "fifo" ? 1 : 0,
    flag("options.journal", given.journal) ? 1 : 0,
  );
}
