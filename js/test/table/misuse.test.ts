// Misuse: a TypeError or a refusal that names what is wrong, and a table that goes on.

import { spawnSync } from "node:child_process";
import { LeaseTable } from "leasebook";
import { afterEach, beforeEach, expect, test } from "vitest";

let leases: LeaseTable;

beforeEach(() => {
  leases = new LeaseTable({ clock: () => 5 });
});

/** Whatever was done to it, the table still grants. */
afterEach(() => {
  if (!leases.disposed) expect(leases.acquire("after", "/after").granted).toBe(true);
});

/** The table as a caller without types sees it. */
function untyped(): Record<string, (...args: unknown[]) => unknown> {
  return new Proxy(leases, {
    get: (table, name) => (table[name as keyof LeaseTable] as unknown as () => unknown).bind(table),
  }) as unknown as Record<string, (...args: unknown[]) => unknown>;
}

test.each([
  ["acquire", [7, "/x"], "holder: expected a string; found number"],
  ["acquire", ["a"], "wishes: expected a path, or an object with a path and a mode; found undefined"],
  ["acquire", ["a", null], "wishes: expected a path"],
  ["acquire", ["a", ["/x", 3]], "wishes[1]: expected a path"],
  ["acquire", ["a", [["/x"]]], "wishes[0]: expected a path, or an object with a path and a mode; found a list"],
  ["acquire", ["a", { path: 5 }], "wishes.path: expected a string; found number"],
  ["acquire", ["a", { path: "/x", mode: "write" }], 'wishes.mode: expected "shared" or "exclusive"; found "write"'],
  ["acquire", ["a", "/x", { ttlMs: "5" }], "ttlMs: expected a number; found string"],
  ["acquire", ["a", "/x", { ttlMs: null }], "ttlMs: expected a number; found null"],
  ["acquire", ["a", "/x", { ttlMs: 5n }], "ttlMs: expected a number; found bigint"],
  ["acquire", ["a", "/x", 5], "options: expected an object; found number"],
  ["acquire", ["a", "/\ud800"], "path: expected a string of whole characters; found half of one"],
  ["waitAttempt", ["w", "a", "/x", { keepMs: "1" }], "keepMs: expected a number"],
  ["waitAttempt", ["w", "a", "/x", { allowHold: 1 }], "allowHold: expected true or false; found number"],
  ["waitAttempt", [{}, "a", "/x"], "waiterId: expected a string; found object"],
  ["refresh", ["a", "1"], "generation: expected a number; found string"],
  ["refresh", ["a", 1.5], "generation: expected a whole number from 0 to 2^53 - 1; found 1.5"],
  ["refresh", ["a", NaN], "generation: expected a whole number from 0 to 2^53 - 1; found NaN"],
  ["release", ["a", { generation: -1 }], "generation: expected a whole number"],
  ["release", ["a", 5], "paths: expected a string or a list of strings; found number"],
  ["release", ["a", null], "paths: expected a string or a list of strings; found null"],
  ["revoke", [1, { force: "yes" }], "force: expected true or false"],
  ["pin", ["a", "/x", { deadlineMs: Infinity }], "deadlineMs: expected a whole number"],
  ["covering", ["a", "/x", "any"], "mode: expected"],
  ["unpin", [7], "token: expected a string"],
  ["cancelWait", [undefined], "waiterId: expected a string; found undefined"],
  ["subscribe", [() => undefined], "options.events: expected a number above 0"],
  ["session", [3], "holder: expected a string"],
])("%s is told what it cannot take (%#)", (name, args, message) => {
  const call = untyped()[name] as (...args: unknown[]) => unknown;
  expect(() => call(...args)).toThrow(TypeError);
  expect(() => call(...args)).toThrow(message);
});

test.each([
  [{ clock: 5 }, "options.clock: expected a function"],
  [{ fairness: "fair" }, "options.fairness: expected"],
  [{ defaultTtlMs: 0 }, "options.defaultTtlMs: expected 1 to 86 400 000 ms"],
  [{ limits: { leases: 1_000_001 } }, "options.limits.leases: expected at most 1 000 000"],
  [{ limits: { waitersPerHolder: 1e9 } }, "options.limits.waitersPerHolder: expected at most 10 000"],
  [{ limits: { pins: -1 } }, "options.limits.pins: expected a whole number"],
  [{ memoryBytesMax: 2 ** 31 }, "options.memoryBytesMax: expected 1 to 1 073 741 824"],
  [{ events: "5" }, "options.events: expected a number"],
  [{ journal: "yes" }, "options.journal: expected true or false"],
  [5, "options: expected an object"],
])("options that cannot be are a TypeError (%#)", (options, message) => {
  expect(() => new LeaseTable(options as object)).toThrow(TypeError);
  expect(() => new LeaseTable(options as object)).toThrow(message);
});

test.each([NaN, Infinity, -Infinity, 0, -0, -1, 1.5, 2 ** 53, 2 ** 63, 1e300])("a ttl of %s is refused", (ttlMs) => {
  expect(leases.acquire("a", "/x", { ttlMs })).toMatchObject({ granted: false, reason: "invalid-ttl", ttlMs });
});

test("a million paths are refused by name", () => {
  const paths = Array.from({ length: 1_000_000 }, (_, n) => `/p/${n}`);
  const over = { which: "paths", limit: 1_024 };
  expect(leases.acquire("a", paths)).toMatchObject({ reason: "limit-exceeded", ...over });
  expect(leases.pin("a", paths)).toMatchObject({ reason: "limit-exceeded", ...over });
  expect(leases.release("a", paths)).toMatchObject({ released: [], refused: { reason: "limit-exceeded", ...over } });
  expect(leases.acquire("a", paths.slice(0, 1_024)).granted).toBe(true);
});

test("texts of megabytes are refused and cross no border", () => {
  const long = "x".repeat(50_000_000);
  expect(() => leases.acquire("a", long)).toThrow("path: expected at most 65536 characters; found 50000000");
  expect(() => leases.acquire(long, "/x")).toThrow("holder: expected at most 65536 characters");
  expect(leases.acquire("a", "x".repeat(5_000))).toMatchObject({ reason: "unevaluable-path" });
});

test("a table whose memory is used up refuses, still gives back, and makes room when it goes", () => {
  const small = new LeaseTable({ memoryBytesMax: 4 << 20 });
  let n = 0;
  for (;;) {
    const got = small.acquire("a", `/a/rather/long/path/of/a/file/${n}`);
    if (!got.granted) {
      expect(got).toMatchObject({ reason: "limit-exceeded", which: "memory-bytes", limit: 4 << 20 });
      break;
    }
    n += 1;
    expect(n).toBeLessThan(200_000);
  }
  expect(small.release("a").released.length).toBe(n);
  small.dispose();
  expect(new LeaseTable({ memoryBytesMax: 4 << 20 }).acquire("a", "/x").granted).toBe(true);
});

test("nothing can be done with a table that was disposed of", async () => {
  const got = leases.acquire("a", "/held");
  if (!got.granted) throw new Error(got.sentence);
  const session = leases.session("a");
  leases.dispose();
  leases.dispose();
  expect(leases.disposed).toBe(true);
  const calls = {
    acquire: ["a", "/x"],
    waitAttempt: ["w", "a", "/x"],
    cancelWait: ["w"],
    refresh: ["a", 1],
    release: ["a"],
    releaseHolder: ["a"],
    releaseAll: [],
    endSession: ["a"],
    revoke: [1],
    covering: ["a", "/x"],
    pin: ["a", "/x"],
    unpin: ["pin-1"],
    ready: [],
    nextDeadline: [],
    leases: [],
    status: [],
    takeEvents: [],
    records: [],
    takeRecords: [],
    session: ["a"],
  };
  for (const [name, args] of Object.entries(calls)) {
    expect(() => (untyped()[name] as (...args: unknown[]) => unknown)(...args), name).toThrow("disposed of");
  }
  await expect(leases.acquireWhenFree("a", "/x")).rejects.toThrow(TypeError);
  expect(() => got.leases[0]?.release()).toThrow("disposed of");
  expect(() => got.leases[0]?.refresh()).toThrow("disposed of");
  expect(() => session.acquire("/x")).toThrow("disposed of");
  // What ends a block with `using` has nothing left to give back.
  got[Symbol.dispose]();
});

test("a clock that tells no time is a TypeError, and nothing happens", () => {
  let time: unknown = 5;
  const table = new LeaseTable({ clock: () => time as number });
  for (time of [NaN, -1, Infinity, "5", undefined]) {
    expect(() => table.acquire("a", "/x")).toThrow(/^clock: expected/);
  }
  time = 6;
  expect(table.leases()).toEqual([]);
});

test("a clock that throws is the caller's error, and the table goes on", () => {
  let broken = true;
  const clock = () => {
    if (broken) throw new RangeError("no battery");
    return 1;
  };
  const table = new LeaseTable({ clock });
  expect(() => table.acquire("a", "/x")).toThrow(RangeError);
  broken = false;
  expect(table.acquire("a", "/x").granted).toBe(true);
});

test("foreign wasm bytes are refused, and the right ones are taken afterwards", () => {
  // In a process of its own: here, the module runs already.
  const program = `
    import assert from "node:assert";
    import { readFileSync } from "node:fs";
    import { initialize, LeaseTable } from "leasebook/slim";
    const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
    for (const wrong of [empty, new Uint8Array(0), Uint8Array.of(1, 2, 3), "bytes", undefined, {}]) {
      assert.throws(() => initialize(wrong), { name: "TypeError", message: /^wasm: expected/ });
    }
    assert.throws(() => new LeaseTable(), { name: "TypeError", message: /call \`initialize\`/ });
    initialize(readFileSync("dist/leasebook.wasm"));
    initialize(empty);
    assert(new LeaseTable().acquire("a", "/x").granted);`;
  const child = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  expect(child.stderr).toBe("");
  expect(child.status).toBe(0);
});
