/// <reference lib="esnext.disposable" preserve="true" />
// What a table hands out: leases and pins that can give themselves back.

import type { Reader } from "../wasm/module.js";
import { mode } from "./check.js";
import type { LeaseTable } from "./table.js";
import type { AcquireOptions, LeaseFacts, Mode, RefreshRefused } from "./types.js";

/** `Symbol.dispose`, also where the runtime has none yet. */
export const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? (Symbol.for("Symbol.dispose") as typeof Symbol.dispose);

/** A lease as it was at one moment. It is a copy: what happens to the lease later does not show in it. */
export class Lease implements LeaseFacts {
  readonly path: string;
  readonly holder: string;
  readonly mode: Mode;
  readonly generation: number;
  readonly acquiredAtMs: number;
  readonly ttlMs: number;
  readonly expiresAtMs: number;
  readonly heldForMs: number;
  readonly expiresInMs: number;
  readonly #table: LeaseTable;

  /** @internal */
  constructor(table: LeaseTable, from: Reader, path: string, holder: string) {
    // As `leaseFacts` reads them, without an object between.
    this.path = from.textOr(path);
    this.holder = from.textOr(holder);
    this.mode = mode(from.flag());
    this.generation = from.number();
    this.acquiredAtMs = from.number();
    this.ttlMs = from.number();
    this.expiresAtMs = from.number();
    this.heldForMs = from.number();
    this.expiresInMs = from.number();
    this.#table = table;
  }

  /** Gives the lease back. `false`: it is not held any more. */
  release(): boolean {
    return this.#table.release(this.holder, { generation: this.generation }).released.length > 0;
  }

  /** Gives the lease a new ttl. */
  refresh(options?: AcquireOptions): Refreshed | RefreshRefused {
    return this.#table.refresh(this.holder, this.generation, options);
  }

  /** Gives the lease back where it is still held; what a `using` does at its end. */
  [DISPOSE](): void {
    if (!this.#table.disposed) this.release();
  }
}

/** Leases that were granted, in the order of the wishes. */
export class Grant {
  readonly granted = true;
  readonly leases: readonly Lease[];

  /** @internal */
  constructor(leases: readonly Lease[]) {
    this.leases = leases;
  }

  /** Gives all of them back. */
  release(): void {
    for (const lease of this.leases) lease.release();
  }

  /** Gives all of them back that are still held. */
  [DISPOSE](): void {
    for (const lease of this.leases) lease[DISPOSE]();
  }
}

/** A lease with a new ttl. */
export interface Refreshed {
  readonly refreshed: true;
  readonly lease: Lease;
}

/** Keeps leases in place while a write is in flight. */
export class Pin {
  readonly pinned = true;
  /** What names it, as in `pin-7`. */
  readonly token: string;
  readonly #table: LeaseTable;

  /** @internal */
  constructor(table: LeaseTable, token: string) {
    this.#table = table;
    this.token = token;
  }

  /** Takes the pin away. `false`: it was gone already. */
  unpin(): boolean {
    return this.#table.unpin(this.token);
  }

  /** Takes the pin away where it still stands. */
  [DISPOSE](): void {
    if (!this.#table.disposed) this.unpin();
  }
}
