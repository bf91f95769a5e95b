// The types, as a program meets them.

import type { Covering, Grant, Lease, LeaseTable, Pin, PinRefused, Refused, TimedOut } from "leasebook";
import type { MarkerFiles, WriterLeaseAcquisition, WriterLeaseOwner, WriterLeaseStore } from "leasebook/files";
import { expectTypeOf, test } from "vitest";

declare const table: LeaseTable;
declare const store: WriterLeaseStore;

test("an answer is narrowed by what it says", () => {
  const got = table.acquire("a", ["/x", { path: "/y", mode: "shared" }], { ttlMs: 5 });
  expectTypeOf(got).toEqualTypeOf<Grant | Refused>();
  if (got.granted) {
    expectTypeOf(got.leases).toEqualTypeOf<readonly Lease[]>();
    return;
  }
  expectTypeOf(got.sentence).toEqualTypeOf<string>();
  if (got.reason === "deadlock") expectTypeOf(got.cycle).toEqualTypeOf<string[]>();
  if (got.reason === "invalid-ttl") expectTypeOf(got.ttlMs).toEqualTypeOf<number>();
  if (got.reason === "conflict") {
    expectTypeOf(got.conflicts[0]!.heldForMs).toEqualTypeOf<number>();
    // @ts-expect-error a conflict has no cycle
    void got.cycle;
  }
  // @ts-expect-error a refusal has no leases
  void got.leases;
});

test("covering has a lease except where nothing stands", () => {
  const covering = table.covering("a", "/x");
  expectTypeOf(covering).toEqualTypeOf<Covering>();
  if (covering.verdict !== "free") expectTypeOf(covering.holder).toEqualTypeOf<string>();
});

test("waiting may be over in vain", () => {
  const waited = table.acquireWhenFree("a", "/x", { signal: new AbortController().signal, timeoutMs: 1 });
  expectTypeOf(waited).resolves.toEqualTypeOf<Grant | Refused | TimedOut>();
});

test("what is wrong does not compile", () => {
  // @ts-expect-error a ttl is a number
  table.acquire("a", "/x", { ttlMs: "5" });
  // @ts-expect-error there is no such mode
  table.acquire("a", { path: "/x", mode: "write" });
  // @ts-expect-error answers are not changed
  table.status().leases[0]!.holder = "b";
});

test("leases and pins are disposed of", () => {
  expectTypeOf<Lease>().toExtend<Disposable>();
  expectTypeOf<Grant>().toExtend<Disposable>();
  expectTypeOf<Pin>().toExtend<Disposable>();
  expectTypeOf(table.pin("a", "/x")).toEqualTypeOf<Pin | PinRefused>();
});

test("writer leases have the shape of the port", () => {
  expectTypeOf(store.acquire("/x", {})).resolves.toEqualTypeOf<WriterLeaseAcquisition>();
  expectTypeOf(store.inspect("/x")).resolves.toEqualTypeOf<WriterLeaseOwner[]>();
  expectTypeOf<WriterLeaseOwner["state"]>().toEqualTypeOf<"active" | "stale" | "foreign" | "unrecognized">();
  expectTypeOf<ReturnType<MarkerFiles["nonce"]>>().toEqualTypeOf<string | PromiseLike<string>>();
});
