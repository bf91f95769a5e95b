// Arguments, checked before they cross: what has the wrong type is a TypeError that names it. Whether a value of the
// right type can be used is for the table to say.

import type { Mode, ReleaseWhat, Wish } from "./types.js";

/** The most paths of one call, as the core has it; of more, one too many crosses, so that the core refuses. */
const PATHS_MAX = 1024;

/** No id and no path that can be used is longer, by far; what is longer is not copied. */
const TEXT_UNITS_MAX = 65_536;

const HALF = /\p{Surrogate}/u;

/** Are there only whole characters in it? Newer runtimes have a quick answer. */
function isWhole(value: string): boolean {
  const { isWellFormed } = value as { isWellFormed?: () => boolean };
  return isWellFormed === undefined ? !HALF.test(value) : isWellFormed.call(value);
}

/** What a value is, for a message. */
export function kind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value;
}

export function wrong(name: string, expected: string, found: unknown): TypeError {
  return new TypeError(`${name}: expected ${expected}; found ${kind(found)}`);
}

/** A text that is one: half a character would become another text on its way. */
export function text(name: string, value: unknown): string {
  if (typeof value !== "string") throw wrong(name, "a string", value);
  if (value.length > TEXT_UNITS_MAX) {
    throw new TypeError(`${name}: expected at most ${TEXT_UNITS_MAX} characters; found ${value.length}`);
  }
  if (!isWhole(value)) throw new TypeError(`${name}: expected a string of whole characters; found half of one`);
  return value;
}

export function maybeNumber(name: string, value: unknown): number | undefined {
  if (value === undefined || typeof value === "number") return value;
  throw wrong(name, "a number", value);
}

/** A number that counts: whole, from 0 to 2^53 - 1. */
export function count(name: string, value: unknown): number {
  if (typeof value !== "number") throw wrong(name, "a number", value);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError(`${name}: expected a whole number from 0 to 2^53 - 1; found ${value}`);
}

export function maybeCount(name: string, value: unknown): number | undefined {
  return value === undefined ? undefined : count(name, value);
}

export function flag(name: string, value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value !== "boolean") throw wrong(name, "true or false", value);
  return value;
}

/** A signal, also one of another realm, whose class is another one. */
export function signal(value: unknown): AbortSignal | undefined {
  if (value === undefined) return undefined;
  const { aborted, addEventListener } = Object(value) as Partial<AbortSignal>;
  if (typeof aborted === "boolean" && typeof addEventListener === "function") return value as AbortSignal;
  throw wrong("signal", "an AbortSignal", value);
}

/** Is a mode the shared one? */
export function shared(name: string, value: unknown): boolean {
  if (value === undefined || value === "exclusive") return false;
  if (value === "shared") return true;
  const found = typeof value === "string" ? `"${value.slice(0, 64)}"` : kind(value);
  throw new TypeError(`${name}: expected "shared" or "exclusive"; found ${found}`);
}

export function mode(isShared: boolean): Mode {
  return isShared ? "shared" : "exclusive";
}

export function options<T extends object>(value: T | undefined): Partial<T> {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) throw wrong("options", "an object", value);
  return value;
}

/** Paths of a call. */
export function paths(name: string, value: unknown): string[] {
  if (typeof value === "string") return [text(name, value)];
  if (!Array.isArray(value)) throw wrong(name, "a string or a list of strings", value);
  return bounded(value).map((path, index) => text(`${name}[${index}]`, path));
}

/** Wishes as they cross: their paths, and twice each length, with one more where it is shared. */
export interface Asked {
  readonly paths: readonly string[];
  readonly layout: Uint32Array;
}

export function wishes(value: unknown): Asked {
  const list: readonly unknown[] = Array.isArray(value) ? bounded(value) : [value];
  const layout = new Uint32Array(list.length);
  const paths = list.map((wish, index) => {
    const name = Array.isArray(value) ? `wishes[${index}]` : "wishes";
    const mode = typeof wish === "object" && wish !== null ? (wish as { mode?: unknown }).mode : undefined;
    const isShared = shared(`${name}.mode`, mode);
    const path = pathOf(name, wish);
    layout[index] = path.length * 2 + (isShared ? 1 : 0);
    return path;
  });
  return { paths, layout };
}

function pathOf(name: string, wish: unknown): string {
  if (typeof wish === "string") return text(name, wish);
  if (typeof wish !== "object" || wish === null || Array.isArray(wish)) {
    throw wrong(name, "a path, or an object with a path and a mode", wish);
  }
  return text(`${name}.path`, (wish as { path?: unknown }).path);
}

function bounded(list: readonly unknown[]): readonly unknown[] {
  return list.length > PATHS_MAX ? list.slice(0, PATHS_MAX + 1) : list;
}

/** The wish that is asked most: one path. None where there are several, or an object. */
export function onePath(value: Wish | readonly Wish[] | ReleaseWhat | undefined): string | undefined {
  return typeof value === "string" ? text("path", value) : undefined;
}
