// Tables of the transpiled component, with as much of the shape of `LeaseTable` as recorded runs use. Between the types
// of the component and those of the package there is only spelling: nothing is decided here.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** What is imported of marker files, which no table asks for. */
class NoPlace {
  constructor() {
    throw new Error("a table asked for marker files");
  }
}

const none = () => {
  throw new Error("a table asked for marker files");
};

/** What tables are made with: the class, and the test of paths beside it. `now` answers the moment. */
export async function transpiled(folder, now) {
  const { instantiate } = await import(pathToFileURL(join(folder, "leasebook.js")));
  const core = (name) => new WebAssembly.Module(readFileSync(join(folder, name)));
  const { table } = instantiate(core, {
    "leasebook:lease/clock": { now: () => BigInt(now()) },
    "leasebook:lease/marker-files": { Place: NoPlace, ownPid: none, cancelled: none },
  });
  return { contains: table.contains, LeaseTable: tablesOf(table.Table) };
}

const maybeBig = (number) => (number === undefined ? undefined : BigInt(number));

/** Numbers of 64 bits as plain ones, which all that a table tells fit into; what is not there is left out. */
function plain(value) {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(value, plain);
  if (typeof value !== "object" || value === null) return value;
  if (typeof value.number === "bigint") return `pin-${value.number}`;
  const there = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(there.map(([name, one]) => [name, plain(one)]));
}

/** What a call answers; a refusal is thrown as it is, which no fault is. */
function settled(call) {
  try {
    return { value: plain(call()) };
  } catch (error) {
    if (error instanceof Error) throw error;
    return { refused: refusal(error) };
  }
}

function refusal({ reason: { tag, val }, sentence }) {
  const facts = { reason: tag, sentence };
  switch (tag) {
    case "invalid-ttl":
      return { ...facts, ttlMs: val };
    case "invalid-keep":
      return { ...facts, keepMs: val };
    case "unevaluable-path":
      return { ...facts, unevaluable: val };
    case "limit-exceeded":
      return { ...facts, ...plain(val) };
    case "not-held":
      return { ...facts, path: val };
    case "blocked": {
      const { obstacle, cycle, ...found } = plain(val);
      return { ...facts, ...found, reason: obstacle, ...(obstacle === "deadlock" ? { cycle } : {}) };
    }
    default:
      return facts;
  }
}

const wishes = (all) => all.map(({ path, mode }) => ({ path, mode: mode ?? "exclusive" }));

function tablesOf(Table) {
  return class {
    #table;

    constructor({ defaultTtlMs, fairness }) {
      this.#table = Table["new"]({ defaultTtlMs: maybeBig(defaultTtlMs), fairness });
    }

    acquire(holder, asked, { ttlMs }) {
      return attempted(settled(() => this.#table.acquire(holder, wishes(asked), ttlMs)));
    }

    waitAttempt(waiterId, holder, asked, { ttlMs, keepMs, allowHold = false }) {
      const attempt = { waiterId, holder, wishes: wishes(asked), ttlMs, keepMs, allowHold };
      return attempted(settled(() => this.#table.waitAttempt(attempt)));
    }

    cancelWait(waiterId) {
      return this.#table.cancelWait(waiterId);
    }

    refresh(holder, generation, { ttlMs }) {
      const { value, refused } = settled(() => this.#table.refresh(holder, BigInt(generation), ttlMs));
      return refused === undefined ? { refreshed: true, lease: value } : { refreshed: false, ...refused };
    }

    release(holder, what) {
      const { released, notHeld } = plain(this.#table.release(holder, whatToRelease(what)));
      return { released, notHeld: notHeld.map(({ val }) => val) };
    }

    releaseHolder(holder) {
      return this.#table.releaseHolder(holder);
    }

    releaseAll() {
      return this.#table.releaseAll();
    }

    endSession(holder) {
      return this.#table.endSession(holder);
    }

    revoke(generation, { force = false }) {
      const found = this.#table.revoke(BigInt(generation), force);
      return found === undefined ? { revoked: false, reason: "stale" } : { revoked: true, ...plain(found) };
    }

    pin(holder, paths, { mode = "exclusive", deadlineMs }) {
      const { value, refused } = settled(() => this.#table.pin(holder, paths, mode, maybeBig(deadlineMs)));
      return refused === undefined ? { pinned: true, token: value } : { pinned: false, ...refused };
    }

    unpin(token) {
      const number = /^pin-([0-9]+)$/.exec(token)?.[1];
      return number !== undefined && this.#table.unpin({ number: BigInt(number) });
    }

    covering(holder, path, mode = "exclusive") {
      const { lease, ...facts } = plain(this.#table.covering(holder, path, mode));
      return { ...facts, ...lease };
    }

    ready() {
      return this.#table.ready();
    }

    nextDeadline() {
      return plain(this.#table.nextDeadline());
    }

    leases() {
      return plain(this.#table.leases());
    }

    status() {
      const { leases, ...others } = plain(this.#table.status());
      return { leases: leases.map(({ lease, ...facts }) => ({ ...lease, ...facts })), ...others };
    }

    dispose() {
      this.#table[Symbol.dispose ?? Symbol.for("dispose")]?.();
    }
  };
}

function attempted({ value, refused }) {
  return refused === undefined ? { granted: true, leases: value } : { granted: false, ...refused };
}

/** What to release, in the words of the component. */
function whatToRelease(what) {
  if (what === undefined) return { tag: "all" };
  return Array.isArray(what) ? { tag: "paths", val: what } : { tag: "generation", val: BigInt(what.generation) };
}
