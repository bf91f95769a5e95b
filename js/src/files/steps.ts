// One way to write steps that may or may not have to be awaited: as a generator that yields each of them.

import type { Awaitable } from "./types.js";

/** Steps that lead to a value. */
export type Steps<T> = Generator<Awaitable<unknown>, T, unknown>;

/** One step; use it as `yield* step(value)`. */
export function* step<T>(value: Awaitable<T>): Generator<Awaitable<unknown>, T, unknown> {
  return (yield value) as T;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | undefined | null)?.then === "function";
}

/** Goes through the steps: at once, until one has to be awaited. */
export function run<T>(steps: Steps<T>): Awaitable<T> {
  let last: unknown;
  for (;;) {
    const next = steps.next(last);
    if (next.done === true) return next.value;
    if (isPromise(next.value)) return goOn(steps, next.value);
    last = next.value;
  }
}

async function goOn<T>(steps: Steps<T>, first: PromiseLike<unknown>): Promise<T> {
  let awaited: Awaitable<unknown> = first;
  for (;;) {
    let value: unknown;
    let failure: { readonly error: unknown } | undefined;
    try {
      value = await awaited;
    } catch (error) {
      failure = { error };
    }
    const next: IteratorResult<Awaitable<unknown>, T> =
      failure === undefined ? steps.next(value) : steps.throw(failure.error);
    if (next.done === true) return next.value;
    awaited = next.value;
  }
}
