// A program that stands still: its leases run out by the clock, and say so when it goes on.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { LeaseTable } from "leasebook";
import { expect, test } from "vitest";

/** Holds the event loop. */
function stall(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("a lease runs out while the event loop is held, and is not refreshed afterwards", () => {
  const table = new LeaseTable();
  const got = table.acquire("a", "/x", { ttlMs: 20 });
  if (!got.granted) throw new Error(got.sentence);
  stall(40);
  expect(got.leases[0]?.refresh()).toMatchObject({ refreshed: false, reason: "stale" });
  expect(table.covering("a", "/x")).toEqual({ verdict: "free", evaluable: true });
  expect(table.acquire("b", "/x")).toMatchObject({ granted: true, leases: [{ generation: 2 }] });
});

test("a pinned lease that ran out meanwhile keeps others away until its pin goes, and takes no new one", () => {
  const table = new LeaseTable();
  table.acquire("a", "/x", { ttlMs: 20 });
  const pin = table.pin("a", "/x");
  if (!pin.pinned) throw new Error(pin.sentence);
  stall(40);
  expect(table.acquire("b", "/x")).toMatchObject({ reason: "conflict", conflicts: [{ ended: true }] });
  expect(table.pin("a", "/x")).toMatchObject({ reason: "not-held" });
  expect(pin.unpin()).toBe(true);
  expect(table.acquire("b", "/x")).toMatchObject({ granted: true, leases: [{ generation: 2 }] });
});

test("a process that is stopped beyond its ttl finds its lease expired", async () => {
  const program = `import { LeaseTable } from "leasebook";
    const table = new LeaseTable();
    const { generation } = table.acquire("a", "/x", { ttlMs: 100 }).leases[0];
    console.log("held");
    process.stdin.once("data", () => { console.log(table.refresh("a", generation).reason); process.exit(); });`;
  const args = ["--input-type=module", "--eval", program];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const [held] = (await once(child.stdout, "data")) as [Buffer];
  expect(held.toString()).toBe("held\n");
  child.kill("SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, 200));
  child.kill("SIGCONT");
  child.stdin.write("go on\n");
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  expect(said.toString()).toBe("stale\n");
});
