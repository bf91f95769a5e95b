// How time is taken: both sides in turn, on one clock, so that a busy machine is busy for both.

/** The number in the middle. */
export function median(numbers) {
  const sorted = numbers.toSorted?.((a, b) => a - b) ?? [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

/**
 * Nanoseconds that one call of each side takes, as medians over the turns. A side does `each` calls a turn, and is
 * given the number of the first; it may answer a promise. The first turn of each is not counted.
 */
export async function inTurns(turns, each, ...sides) {
  const taken = sides.map(() => []);
  for (let turn = 0; turn <= turns; turn++) {
    for (const [at, side] of sides.entries()) {
      const start = performance.now();
      const done = side(each, turn * each);
      if (done !== undefined) await done;
      if (turn > 0) taken[at].push(((performance.now() - start) * 1e6) / each);
    }
  }
  return taken.map(median);
}

/** Paths that lie all over a tree of directories: five segments, 32 names a directory. */
export function path(number) {
  const name = (shift) => `d${(number >> shift) & 31}`;
  return `/srv/${name(15)}/${name(10)}/${name(5)}/${name(0)}`;
}

/** So many paths beside the standing ones, in an order that jumps about. */
export function paths(standing, count) {
  // A step that has no factor with the count goes through all of them.
  const step = 7919;
  return Array.from({ length: count }, (_, n) => path(standing + ((n * step) % count)));
}
