// Records, both ways, in the order of the crate `leasebook-js`.

import type { Reader } from "../wasm/module.js";
import { count, flag, kind, mode, shared, text, wrong } from "./check.js";
import { shownToken, tokenNumber } from "./read.js";
import type { LeaseRecord, Mode } from "./types.js";

/** In place of a number that is not there. */
const NONE = -2;

export function record(from: Reader): LeaseRecord {
  switch (from.number()) {
    case 0:
      return {
        record: "lease",
        generation: from.number(),
        holder: from.text(),
        path: from.text(),
        mode: mode(from.flag()),
        acquiredAtMs: from.number(),
        ttlMs: from.number(),
        expiresAtMs: from.number(),
        releasePending: from.flag(),
      };
    case 1:
      return { record: "lease-gone", generation: from.number() };
    case 2:
      return {
        record: "waiter",
        id: from.text(),
        holder: from.text(),
        paths: from.list(() => from.text()),
        modes: from.list(() => mode(from.flag())),
        sinceMs: from.number(),
        lapsesAtMs: from.maybe() ?? null,
        place: from.number(),
        passed: from.list(() => from.number()),
      };
    case 3:
      return { record: "waiter-gone", id: from.text() };
    case 4:
      return {
        record: "pin",
        token: shownToken(from.number()),
        holder: from.text(),
        generations: from.list(() => from.number()),
        sinceMs: from.number(),
        deadlineMs: from.maybe() ?? null,
      };
    case 5:
      return { record: "pin-gone", token: shownToken(from.number()) };
    default:
      return {
        record: "counters",
        nowMs: from.number(),
        lastGeneration: from.number(),
        lastPlace: from.number(),
        lastToken: from.number(),
      };
  }
}

/** Records as they cross. */
export interface PackedRecords {
  readonly numbers: Float64Array;
  readonly text: string;
}

/** Packs records from outside; one of another shape is a TypeError that names its place. */
export function packRecords(records: Iterable<LeaseRecord>): PackedRecords {
  if (typeof records !== "object" || records === null || !(Symbol.iterator in records)) {
    throw wrong("records", "a list of records", records);
  }
  const packer = new Packer();
  let index = 0;
  for (const one of records) packer.record(`records[${index++}]`, one);
  return { numbers: Float64Array.from(packer.numbers), text: packer.texts.join("") };
}

class Packer {
  readonly numbers: number[] = [];
  readonly texts: string[] = [];

  record(name: string, one: LeaseRecord): void {
    if (typeof one !== "object" || one === null) throw wrong(name, "a record", one);
    switch (one.record) {
      case "lease":
        this.numbers.push(0);
        this.count(`${name}.generation`, one.generation);
        this.text(`${name}.holder`, one.holder);
        this.text(`${name}.path`, one.path);
        this.mode(`${name}.mode`, one.mode);
        this.count(`${name}.acquiredAtMs`, one.acquiredAtMs);
        this.count(`${name}.ttlMs`, one.ttlMs);
        this.count(`${name}.expiresAtMs`, one.expiresAtMs);
        this.numbers.push(flag(`${name}.releasePending`, one.releasePending) ? 1 : 0);
        return;
      case "lease-gone":
        this.numbers.push(1);
        this.count(`${name}.generation`, one.generation);
        return;
      case "waiter":
        this.numbers.push(2);
        this.text(`${name}.id`, one.id);
        this.text(`${name}.holder`, one.holder);
        this.list(`${name}.paths`, one.paths, this.text);
        this.list(`${name}.modes`, one.modes, this.mode);
        this.count(`${name}.sinceMs`, one.sinceMs);
        this.maybe(`${name}.lapsesAtMs`, one.lapsesAtMs);
        this.count(`${name}.place`, one.place);
        this.list(`${name}.passed`, one.passed, this.count);
        return;
      case "waiter-gone":
        this.numbers.push(3);
        this.text(`${name}.id`, one.id);
        return;
      case "pin":
        this.numbers.push(4);
        this.token(`${name}.token`, one.token);
        this.text(`${name}.holder`, one.holder);
        this.list(`${name}.generations`, one.generations, this.count);
        this.count(`${name}.sinceMs`, one.sinceMs);
        this.maybe(`${name}.deadlineMs`, one.deadlineMs);
        return;
      case "pin-gone":
        this.numbers.push(5);
        this.token(`${name}.token`, one.token);
        return;
      case "counters":
        this.numbers.push(6);
        this.count(`${name}.nowMs`, one.nowMs);
        this.count(`${name}.lastGeneration`, one.lastGeneration);
        this.count(`${name}.lastPlace`, one.lastPlace);
        this.count(`${name}.lastToken`, one.lastToken);
        return;
      default: {
        const found = kind((one as { record?: unknown }).record);
        throw new TypeError(`${name}.record: expected the name of a kind of record; found ${found}`);
      }
    }
  }

  count(name: string, value: number): void {
    this.numbers.push(count(name, value));
  }

  maybe(name: string, value: number | null): void {
    this.numbers.push(value === null ? NONE : count(name, value));
  }

  text(name: string, value: string): void {
    this.texts.push(text(name, value));
    this.numbers.push(value.length);
  }

  mode(name: string, value: Mode): void {
    this.numbers.push(shared(name, value) ? 1 : 0);
  }

  token(name: string, value: string): void {
    const number = tokenNumber(text(name, value));
    if (number === undefined) throw new TypeError(`${name}: expected a token such as "pin-7"`);
    this.count(name, number);
  }

  list<T>(name: string, values: readonly T[], one: (this: Packer, name: string, value: T) => void): void {
    if (!Array.isArray(values)) throw wrong(name, "a list", values);
    this.numbers.push(values.length);
    values.forEach((value: T, index) => one.call(this, `${name}[${index}]`, value));
  }
}
