// The clock of a table that is given none.

/** Milliseconds that never run back: elapsed time on top of the wall clock at the start. */
export function systemClock(): () => number {
  const base = Date.now() - performance.now();
  return () => base + performance.now();
}
