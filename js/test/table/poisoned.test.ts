// A module that fails in the middle of an operation: the table is lost and says so, and no other one is.

import { LeaseTable, PoisonedError } from "leasebook";
import { expect, test, vi } from "vitest";
import { Book } from "../../dist/esm/generated/table.js";

test.each(["acquire", "covering", "release_path", "ready"] as const)("a trap in %s poisons the table", async (name) => {
  const table = new LeaseTable();
  const other = new LeaseTable();
  table.acquire("a", "/x");
  const waits = table.acquireWhenFree("b", "/x");
  await Promise.resolve();
  vi.spyOn(Book.prototype, name).mockImplementationOnce(() => {
    throw new WebAssembly.RuntimeError("unreachable");
  });
  const calls = {
    acquire: () => table.acquire("a", "/y"),
    covering: () => table.covering("a", "/y"),
    release_path: () => table.release("a", "/x"),
    ready: () => table.ready(),
  };
  expect(calls[name]).toThrow(PoisonedError);
  for (const call of Object.values(calls)) expect(call).toThrow(PoisonedError);
  await expect(waits).rejects.toBeInstanceOf(PoisonedError);
  expect(table.disposed).toBe(false);
  expect(other.acquire("a", "/x").granted).toBe(true);
  table.dispose();
  expect(() => table.leases()).toThrow(PoisonedError);
});
