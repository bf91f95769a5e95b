// The operations of a table, as a program in TypeScript meets them.

import { contains, type Grant, LeaseTable, type Refused, RestoreError } from "leasebook";
import { expect, test } from "vitest";

function table(options: ConstructorParameters<typeof LeaseTable>[0] = {}) {
  let now = 1_000;
  const made = new LeaseTable({ clock: () => now, ...options });
  return { table: made, pass: (ms: number) => (now += ms) };
}

test("a refusal says who is in the way, since when and until when", () => {
  const { table: leases, pass } = table();
  const got = leases.acquire("writer-1", ["/srv/src", "/srv/README.md"]);
  expect(got.granted).toBe(true);
  if (!got.granted) return;
  expect(got.leases.map(({ path, generation }) => [path, generation])).toEqual([
    ["/srv/src", 1],
    ["/srv/README.md", 2],
  ]);
  pass(12_000);
  const no = leases.acquire("reviewer-1", "/srv/src/app.rs");
  expect(no).toEqual({
    granted: false,
    reason: "conflict",
    sentence: "/srv/src/app.rs is inside /srv/src, held by writer-1 for 12 s, free in at most 288 s",
    conflicts: [
      {
        path: "/srv/src/app.rs",
        leased: "/srv/src",
        holder: "writer-1",
        mode: "exclusive",
        heldForMs: 12_000,
        expiresInMs: 288_000,
        ended: false,
      },
    ],
    truncated: false,
    blockers: [],
  });
});

test("a lease is told as a plain value, also where it was asked for in another spelling", () => {
  const { table: leases } = table();
  leases.acquire("ä-1", "/srv//ö/");
  const again = leases.acquire("ä-1", "/srv/ö", { ttlMs: 500 });
  if (!again.granted) throw new Error(again.sentence);
  expect(JSON.parse(JSON.stringify(again.leases))).toEqual([
    {
      path: "/srv//ö/",
      holder: "ä-1",
      mode: "exclusive",
      generation: 1,
      acquiredAtMs: 1_000,
      ttlMs: 500,
      expiresAtMs: 1_500,
      heldForMs: 0,
      expiresInMs: 500,
    },
  ]);
});

test("release gives back by nothing, path, paths and generation", () => {
  const { table: leases } = table();
  const take = () => leases.acquire("a", ["/x", "/y", "/z"]);
  take();
  expect(leases.release("a", "/x")).toEqual({ released: ["/x"], notHeld: [] });
  expect(leases.release("a", ["/x", "/y/"])).toEqual({ released: ["/y"], notHeld: ["/x"] });
  expect(leases.release("a", [])).toEqual({ released: [], notHeld: [] });
  expect(leases.release("a", { generation: 99 })).toEqual({ released: [], notHeld: [99] });
  expect(leases.release("a")).toEqual({ released: ["/z"], notHeld: [] });
  take();
  expect(leases.releaseHolder("a")).toBe(3);
  take();
  expect(leases.endSession("a")).toBe(3);
  take();
  expect(leases.releaseAll()).toBe(3);
});

test("covering tells every verdict", () => {
  const { table: leases } = table();
  leases.acquire("a", "/srv/src");
  expect(leases.covering("a", "/srv/src/app.rs")).toMatchObject({ verdict: "own", leased: "/srv/src" });
  expect(leases.covering("b", "/srv/src/app.rs")).toMatchObject({ verdict: "other", holder: "a" });
  expect(leases.covering("b", "src")).toMatchObject({ verdict: "unknown", evaluable: true });
  expect(leases.covering("b", "/srv/other")).toEqual({ verdict: "free", evaluable: true });
  expect(leases.covering("a", "/srv/..")).toMatchObject({ evaluable: false });
  expect([contains("/a/b", "/a"), contains("/ab", "/a"), contains("a", "/a")]).toEqual(["yes", "no", "unknown"]);
});

test("shared leases stand beside each other, and modes are told", () => {
  const { table: leases } = table();
  expect(leases.acquire("a", { path: "/x", mode: "shared" }).granted).toBe(true);
  expect(leases.acquire("b", [{ path: "/x", mode: "shared" }]).granted).toBe(true);
  const no = leases.acquire("c", ["/x"]);
  if (no.granted || no.reason !== "conflict") throw new Error("not a conflict");
  expect(no.conflicts.map(({ holder, mode }) => [holder, mode])).toEqual([
    ["a", "shared"],
    ["b", "shared"],
  ]);
});

test("pins keep a lease that ran out, and give it back when they are disposed of", () => {
  const { table: leases, pass } = table();
  leases.acquire("a", "/x", { ttlMs: 300 });
  const pin = leases.pin("a", "/x/file");
  if (!pin.pinned) throw new Error(pin.sentence);
  pass(1_000);
  const no = leases.acquire("b", "/x");
  expect(no).toMatchObject({ reason: "conflict", conflicts: [{ ended: true, expiresInMs: -700 }] });
  expect(leases.pin("a", "/x")).toMatchObject({ pinned: false, reason: "not-held", path: "/x" });
  expect(leases.status().pins).toMatchObject([{ token: pin.token, holder: "a", generations: [1], pinnedForMs: 1_000 }]);
  pin[Symbol.dispose]();
  expect(pin.unpin()).toBe(false);
  expect(leases.acquire("b", "/x").granted).toBe(true);
});

test("leases and grants give themselves back when they are disposed of", () => {
  const { table: leases } = table();
  const got = leases.acquire("a", ["/x", "/y"]);
  if (!got.granted) throw new Error("refused");
  got.leases[0]?.[Symbol.dispose]();
  expect(leases.leases().map(({ path }) => path)).toEqual(["/y"]);
  got[Symbol.dispose]();
  expect(leases.leases()).toEqual([]);
  const later = leases.acquire("a", "/x");
  leases.dispose();
  if (later.granted) expect(() => later[Symbol.dispose]()).not.toThrow();
});

test("refresh and revoke tell what came of them", () => {
  const { table: leases, pass } = table();
  leases.acquire("a", "/x", { ttlMs: 1_000 });
  pass(400);
  expect(leases.refresh("a", 1)).toMatchObject({ refreshed: true, lease: { ttlMs: 300_000, heldForMs: 400 } });
  expect(leases.refresh("b", 1)).toMatchObject({ refreshed: false, reason: "stale" });
  expect(leases.refresh("a", 1, { ttlMs: -1 })).toMatchObject({ refreshed: false, reason: "invalid-ttl", ttlMs: -1 });
  expect(leases.revoke(1)).toEqual({ revoked: true, holder: "a", path: "/x", pending: false });
  expect(leases.revoke(1)).toMatchObject({ revoked: false, reason: "stale" });
});

test("a table of records gives the same answers and never a generation again", () => {
  const first = table({ fairness: "fifo", journal: true, limits: { leases: 5 } });
  first.table.acquire("a", ["/x", { path: "/ö", mode: "shared" }]);
  first.table.pin("a", "/x");
  first.table.waitAttempt("w", "b", "/x/1", { keepMs: 5_000 });
  for (const records of [first.table.records(), first.table.takeRecords()]) {
    const copy = JSON.parse(JSON.stringify(records)) as typeof records;
    const second = LeaseTable.restore(copy, { clock: () => 2_000, fairness: "fifo" });
    expect(second.status().waiters).toMatchObject([{ id: "w", holder: "b", blockers: ["a"], waitingForMs: 1_000 }]);
    expect(second.acquire("c", "/z")).toMatchObject({ granted: true, leases: [{ generation: 3 }] });
  }
  const [counters, lease] = first.table.records();
  if (counters === undefined || lease?.record !== "lease") throw new Error("no lease");
  expect(() => LeaseTable.restore([counters, { ...lease, path: "/a/../b" }])).toThrow(RestoreError);
  expect(() => LeaseTable.restore([counters, { ...lease, holder: "" }])).toThrow(RestoreError);
});

test("events are told once, in their order", () => {
  const { table: leases, pass } = table({ events: 4 });
  leases.acquire("a", "/x", { ttlMs: 100 });
  leases.waitAttempt("w", "b", "/x");
  pass(100);
  leases.ready();
  expect(leases.takeEvents()).toEqual([
    { atMs: 1_000, event: "granted", holder: "a", generation: 1, path: "/x", mode: "exclusive", expiresAtMs: 1_100 },
    { atMs: 1_000, event: "waiting", holder: "b", waiterId: "w" },
    { atMs: 1_100, event: "expired", holder: "a", generation: 1, path: "/x", pending: false },
    { atMs: 1_100, event: "ready", holder: "b", waiterId: "w" },
  ]);
  for (let n = 0; n < 6; n++) leases.acquire(`h${n}`, `/y${n}`);
  expect(leases.takeEvents()[0]).toMatchObject({ event: "dropped", count: 2 });
  expect(leases.takeEvents()).toEqual([]);
});

test("every reason of a refusal is told with what belongs to it", () => {
  const { table: leases } = table({ fairness: "fifo", limits: { leases: 4 } });
  const reason = (answer: Grant | Refused) => (answer.granted ? "granted" : answer.reason);
  expect(reason(leases.acquire("", "/x"))).toBe("invalid-holder");
  expect(leases.acquire("a", "/x", { ttlMs: 86_400_001 })).toMatchObject({ reason: "invalid-ttl", ttlMs: 86_400_001 });
  expect(leases.waitAttempt("w", "a", "/x")).toMatchObject({ reason: "invalid-keep", keepMs: undefined });
  expect(leases.waitAttempt("w", "a", "/x", { keepMs: -2 })).toMatchObject({ reason: "invalid-keep", keepMs: -2 });
  expect(reason(leases.acquire("a", []))).toBe("no-paths");
  expect(leases.acquire("a", ["/x", "/\\", ".."])).toMatchObject({ unevaluable: ["/\\", ".."] });
  expect(leases.acquire("a", ["/1", "/2", "/3", "/4", "/5"])).toMatchObject({ which: "leases", limit: 4 });
  leases.acquire("a", "/x");
  leases.waitAttempt("w", "b", "/x", { keepMs: 1_000 });
  expect(reason(leases.waitAttempt("w", "c", "/x", { keepMs: 1_000 }))).toBe("waiter-id-taken");
  expect(reason(leases.waitAttempt("v", "b", "/x", { keepMs: 1_000 }))).toBe("already-waiting");
  expect(leases.acquire("c", "/x")).toMatchObject({ ahead: { holders: ["b"], position: 2 } });
  leases.acquire("c", "/y");
  expect(leases.waitAttempt("c", "c", "/x", { keepMs: 1_000 })).toMatchObject({ reason: "hold-and-wait" });
  leases.waitAttempt("c", "c", "/x", { keepMs: 1_000, allowHold: true });
  const cycle = leases.waitAttempt("a", "a", "/y", { keepMs: 1_000, allowHold: true });
  expect(cycle).toMatchObject({ reason: "deadlock", cycle: ["a", "c", "a"] });
});

test("a table without a clock goes by one that never runs back", () => {
  const leases = new LeaseTable();
  const before = leases.now();
  expect(Math.abs(before - Date.now())).toBeLessThan(60_000);
  expect(leases.now()).toBeGreaterThanOrEqual(before);
});

test("texts that stay in the module between calls are never those of another call or table", () => {
  const tables = [new LeaseTable(), new LeaseTable()];
  const holders = ["a", "b", "", "a".repeat(256), "größe", "a".repeat(255), "\u{1f600}".repeat(64)];
  const segments = ["x", "y", "ü".repeat(100), "x".repeat(700), "\u{1f600}", "日本", "x".repeat(699), "y\u0000"];
  for (const holder of holders) {
    for (const [n, segment] of segments.entries()) {
      const path = `/${segment}`;
      const table = tables[n % 2] as LeaseTable;
      const got = table.acquire(holder, path);
      // What one path asks alone is what it asks among others, where texts cross as arguments.
      const listed = tables[n % 2 === 0 ? 1 : 0] as LeaseTable;
      const other = listed.acquire(holder, [path]);
      expect({ ...got, leases: undefined }).toEqual({ ...other, leases: undefined });
      if (!got.granted || !other.granted) continue;
      expect(got.leases[0]).toMatchObject({ holder, path });
      expect(table.leases()).toMatchObject([{ holder, path }]);
      expect(table.covering(holder, path).verdict).toBe("own");
      expect(table.covering(holder, `${path}/1`).verdict).toBe("own");
      expect(table.covering(`${holder}1`.slice(-9), path).verdict).not.toBe("own");
      expect(table.release(holder, `${path}1`)).toMatchObject({ released: [], notHeld: [`${path}1`] });
      expect(table.release(holder, path).released).toEqual([path]);
      expect(listed.release(holder, [path]).released).toEqual([path]);
    }
  }
});
