// Calls that wait: granted in order, ended by signal, time, deadlock and the end of the table.

import { LeaseTable } from "leasebook";
import { describe, expect, test } from "vitest";

/** Everything that is due at once has happened. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What became of a promise so far. */
function watched<T>(promise: Promise<T>): { state: "pending" | "done" | "failed"; value?: T; error?: unknown } {
  const seen: { state: "pending" | "done" | "failed"; value?: T; error?: unknown } = { state: "pending" };
  promise.then(
    (value) => Object.assign(seen, { state: "done", value }),
    (error: unknown) => Object.assign(seen, { state: "failed", error }),
  );
  return seen;
}

describe.each(["barge", "fifo"] as const)("in %s", (fairness) => {
  test("a call waits until the lease is given back", async () => {
    const leases = new LeaseTable({ fairness });
    leases.acquire("a", "/srv");
    const waits = watched(leases.acquireWhenFree("b", ["/srv/x"]));
    await settled();
    expect(waits.state).toBe("pending");
    expect(leases.status().waiters).toMatchObject([{ holder: "b", paths: ["/srv/x"], blockers: ["a"] }]);
    leases.release("a");
    await settled();
    expect(waits).toMatchObject({ state: "done", value: { granted: true, leases: [{ holder: "b", path: "/srv/x" }] } });
    expect(leases.status().waiters).toEqual([]);
  });

  test("what is free is granted at once, and what cannot be is refused at once", async () => {
    const leases = new LeaseTable({ fairness });
    expect((await leases.acquireWhenFree("a", "/x")).granted).toBe(true);
    expect(await leases.acquireWhenFree("a", "/..")).toMatchObject({ reason: "unevaluable-path" });
    await expect(leases.acquireWhenFree("a", 5 as unknown as string)).rejects.toThrow("wishes: expected");
    await expect(leases.acquireWhenFree("a", "/x", { timeoutMs: NaN })).rejects.toThrow("timeoutMs: expected");
    await expect(leases.acquireWhenFree("a", "/x", { signal: {} as AbortSignal })).rejects.toThrow("signal: expected");
  });

  test("an aborted call has no waiter left and is granted nothing, also in the instant of the release", async () => {
    const leases = new LeaseTable({ fairness });
    leases.acquire("a", "/x");
    const { signal, abort } = controller();
    const first = watched(leases.acquireWhenFree("b", "/x", { signal }));
    const second = watched(leases.acquireWhenFree("c", "/x"));
    leases.release("a");
    abort("enough");
    await settled();
    expect(first).toMatchObject({ state: "failed", error: "enough" });
    expect(second).toMatchObject({ state: "done", value: { granted: true } });
    expect(leases.status().waiters).toEqual([]);
    await expect(leases.acquireWhenFree("d", "/y", { signal })).rejects.toBe("enough");
    expect(leases.leases().map(({ holder }) => holder)).toEqual(["c"]);
  });

  test("a wait that is over in vain says what was in the way", async () => {
    const leases = new LeaseTable({ fairness });
    leases.acquire("a", "/x");
    const late = await leases.acquireWhenFree("b", "/x", { timeoutMs: 5 });
    expect(late).toMatchObject({ granted: false, reason: "timed-out", conflicts: [{ holder: "a", leased: "/x" }] });
    expect(leases.status().waiters).toEqual([]);
    expect(await leases.acquireWhenFree("b", "/x", { timeoutMs: 0 })).toMatchObject({ reason: "timed-out" });
  });

  test("a lease that runs out wakes who waits for it", async () => {
    const leases = new LeaseTable({ fairness });
    leases.acquire("a", "/x", { ttlMs: 20 });
    expect((await leases.acquireWhenFree("b", "/x")).granted).toBe(true);
  });

  test("whoever would close a cycle is refused, and the other gets what it waits for", async () => {
    const leases = new LeaseTable({ fairness });
    leases.acquire("a", "/x");
    leases.acquire("b", "/y");
    const waits = watched(leases.acquireWhenFree("a", "/y", { allowHold: true }));
    const refused = await leases.acquireWhenFree("b", "/x", { allowHold: true });
    expect(refused).toMatchObject({ reason: "deadlock", cycle: ["b", "a", "b"] });
    expect(waits.state).toBe("pending");
    leases.release("b");
    await settled();
    expect(waits).toMatchObject({ state: "done", value: { granted: true } });
  });

  test("who holds a lease does not wait unless it says so", async () => {
    const leases = new LeaseTable({ fairness });
    leases.acquire("a", "/x");
    leases.acquire("b", "/y");
    expect(await leases.acquireWhenFree("a", "/y")).toMatchObject({ reason: "hold-and-wait" });
  });

  test("the end of the table ends the waits for it", async () => {
    const leases = new LeaseTable({ fairness });
    leases.acquire("a", "/x");
    const waits = watched(leases.acquireWhenFree("b", "/x"));
    await settled();
    leases.dispose();
    await settled();
    expect(waits.state).toBe("failed");
    expect(waits.error).toBeInstanceOf(TypeError);
  });

  test("a hundred calls for one path are granted one after the other", async () => {
    const leases = new LeaseTable({ fairness });
    const order: number[] = [];
    let holders = 0;
    const turn = async (n: number) => {
      const got = await leases.acquireWhenFree(`h${n}`, "/x");
      if (!got.granted) throw new Error(got.sentence);
      expect(++holders).toBe(1);
      order.push(n);
      await settled();
      holders -= 1;
      got.release();
    };
    await Promise.all(Array.from({ length: 100 }, (_, n) => turn(n)));
    const all = Array.from({ length: 100 }, (_, n) => n);
    expect(fairness === "fifo" ? order : [...order].sort((a, b) => a - b)).toEqual(all);
  });
});

test("a cycle that a grant closes is told to the waiter of whoever was granted", async () => {
  const leases = new LeaseTable();
  leases.acquire("b", "/p");
  leases.acquire("c", "/q");
  const a = watched(leases.acquireWhenFree("a", "/p"));
  const b = watched(leases.acquireWhenFree("b", "/q", { allowHold: true }));
  await settled();
  // In `barge` the one who asks first has it: now b waits for a, which waits for b.
  leases.release("c");
  expect(leases.acquire("a", "/q").granted).toBe(true);
  await settled();
  expect(a).toMatchObject({ state: "done", value: { granted: false, reason: "hold-and-wait" } });
  expect(b.state).toBe("pending");
  leases.release("a");
  await settled();
  expect(b).toMatchObject({ state: "done", value: { granted: true } });
});

test("a waiter of a queue is renewed as long as its call waits", async () => {
  const leases = new LeaseTable({ fairness: "fifo" });
  leases.acquire("a", "/x");
  const waits = watched(leases.acquireWhenFree("b", "/x", { keepMs: 60 }));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(waits.state).toBe("pending");
  expect(leases.status().waiters.map(({ holder }) => holder)).toEqual(["b"]);
  leases.release("a");
  await settled();
  expect(waits.state).toBe("done");
});

test("listeners hear of events after the operation, until they end it, and one that throws harms nobody", async () => {
  const leases = new LeaseTable({ events: 100 });
  const heard: string[] = [];
  const end = leases.subscribe((event) => {
    heard.push(event.event);
    // A listener may use the table.
    if (event.event === "granted" && event.holder === "a") leases.acquire("b", "/y");
  });
  leases.acquire("a", "/x", { ttlMs: 15 });
  expect(heard).toEqual([]);
  await settled();
  expect(heard).toEqual(["granted", "granted"]);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(heard).toEqual(["granted", "granted", "expired"]);
  end();
  leases.release("b");
  await settled();
  expect(heard).toHaveLength(3);
});

test("a session speaks for its holder alone", async () => {
  const leases = new LeaseTable({ limits: { leasesPerHolder: 2 } });
  const one = leases.session("plugin-1");
  const two = leases.session("plugin-2");
  expect(one.acquire("/x").granted).toBe(true);
  expect(two.acquire("/x")).toMatchObject({ reason: "conflict" });
  expect(two.release("/x")).toEqual({ released: [], notHeld: ["/x"] });
  expect(two.waitAttempt("w", "/x")).toMatchObject({ reason: "conflict" });
  expect(one.cancelWait("w")).toBe(false);
  expect(one.ready()).toEqual([]);
  const pin = one.pin("/x", { forMs: 10_000 });
  expect(pin.pinned).toBe(true);
  expect(one.covering("/x/1")).toMatchObject({ verdict: "own" });
  expect(one.acquire(["/y", "/z"])).toMatchObject({ reason: "limit-exceeded", which: "leases-per-holder" });
  expect(one.refresh(1).refreshed).toBe(true);
  expect(two.refresh(1)).toMatchObject({ reason: "stale" });
  expect(one.end()).toBe(1);
  expect(two.ready()).toEqual(["w"]);
  expect(two.waitAttempt("w", "/x").granted).toBe(true);
  const waits = watched(one.acquireWhenFree("/x"));
  two[Symbol.dispose]();
  await settled();
  expect(waits).toMatchObject({ state: "done", value: { granted: true } });
});

function controller(): { signal: AbortSignal; abort: (reason: unknown) => void } {
  const made = new AbortController();
  return { signal: made.signal, abort: (reason) => made.abort(reason) };
}
