// The port: whatever its members do, at whatever step, nothing is granted that is not held, and nothing is left.

import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  MarkerFileError,
  memoryMarkerFiles,
  nativeWriterLeaseStore,
  systemMarkerFiles,
  WriterLeaseError,
  writerLeaseStore,
  type MakeMarkerFiles,
  type MemoryFile,
} from "leasebook/files";
import { describe, expect, test } from "vitest";
import { destination, marker, markers, MARKERS, NOBODY, nonce, put, watching } from "./help.js";

/** The file functions of this system, of both kinds. */
const kinds: [string, MakeMarkerFiles][] = [
  ["synchronous", systemMarkerFiles()],
  ["asynchronous", systemMarkerFiles({ asynchronous: true })],
];

function store(files: MakeMarkerFiles) {
  return writerLeaseStore({ markerDirectory: MARKERS, legacyMarkers: [".lock"], files });
}

/** A destination with a dead writer in it, so that acquiring takes every kind of step. */
function abandoned(): string {
  const root = destination();
  marker(root, "1", NOBODY);
  return root;
}

/** The calls that one acquisition makes. */
async function calls(files: MakeMarkerFiles): Promise<string[]> {
  const seen: string[] = [];
  const got = await store(watching(files, (call) => seen.push(call) && undefined)).acquire(abandoned());
  const before = [...seen];
  if (got.status === "acquired") await got.lease.release();
  return before;
}

describe.each(kinds)("%s", (_, files) => {
  test("aborted at every step, an acquisition leaves nothing", async () => {
    const steps = await calls(files);
    expect(new Set(steps)).toEqual(
      new Set(["resolveRoot", "legacyExists", "identity", "nonce", "publish", "list", "read", "isAlive", "remove"]),
    );
    for (let at = 0; at < steps.length; at++) {
      const root = abandoned();
      const controller = new AbortController();
      const port = watching(files, (_, number) => {
        if (number === at) controller.abort(new Error("enough"));
      });
      const failed = await store(port).acquire(root, { signal: controller.signal }).catch((error: unknown) => error);
      expect(failed, steps[at]).toBeInstanceOf(WriterLeaseError);
      expect(failed).toMatchObject({ code: "cancelled", cause: new Error("enough"), left: undefined });
      const left = markers(root) ?? [];
      expect(left.filter((name) => !name.startsWith("1"))).toEqual([]);
    }
  });

  test("a call that has begun is awaited, whatever was aborted meanwhile", async () => {
    const root = destination();
    const controller = new AbortController();
    let published = false;
    const slow = watching(files, async (call) => {
      if (call !== "publish") return;
      controller.abort();
      await new Promise((resolve) => setTimeout(resolve, 20));
      published = true;
    });
    await expect(store(slow).acquire(root, { signal: controller.signal })).rejects.toMatchObject({ code: "cancelled" });
    expect(published).toBe(true);
    expect(markers(root)).toBeUndefined();
  });

  test("a signal that was aborted before starts nothing", async () => {
    const seen: string[] = [];
    const leases = store(watching(files, (call) => seen.push(call) && undefined));
    const signal = AbortSignal.abort("no");
    const root = destination();
    await expect(leases.acquire(root, { signal })).rejects.toMatchObject({ code: "cancelled", cause: "no" });
    await expect(leases.inspect(root, { signal })).rejects.toMatchObject({ code: "cancelled" });
    await expect(leases.recover(root, { apply: true, signal })).rejects.toMatchObject({ code: "cancelled" });
    expect(seen).toEqual([]);
    const none = leases.acquire(root, { signal: {} as AbortSignal });
    await expect(none).rejects.toThrow("signal: expected an AbortSignal");
  });

  test("failing at every step, an acquisition grants nothing and leaves nothing", async () => {
    const steps = await calls(files);
    for (let at = 0; at < steps.length; at++) {
      const root = abandoned();
      const fault = new MarkerFileError("input-output", "/somewhere", "EIO");
      const port = watching(files, (_, number) => {
        if (number === at) throw fault;
      });
      const got = await store(port).acquire(root).catch((error: unknown) => error);
      if (got instanceof WriterLeaseError) {
        expect(got).toMatchObject({ code: "input-output", cause: fault });
      } else {
        // A marker that could not be looked at is in the way.
        expect(got, steps[at]).toMatchObject({ status: "busy" });
      }
      expect((markers(root) ?? []).filter((name) => !name.startsWith("1"))).toEqual([]);
    }
  });

  test("a marker that could not be removed is named, and the next operation removes it", async () => {
    let broken = true;
    // The first listing is that of recovery; only what comes after the publication fails.
    let listings = 0;
    const late = watching(files, (call) => {
      if (call === "list" && ++listings === 2 && broken) throw new MarkerFileError("input-output", "", "EIO");
      if (broken && call === "remove") throw new MarkerFileError("read-only", "", "EROFS");
    });
    const other = destination();
    const leases = store(late);
    const failed = (await leases.acquire(other).catch((error: unknown) => error)) as WriterLeaseError;
    expect(failed).toMatchObject({ code: "input-output", left: expect.stringContaining(other) });
    expect(leases.left()).toEqual([failed.left]);
    expect(markers(other)).toHaveLength(1);
    broken = false;
    const got = await leases.acquire(other);
    expect(got.status).toBe("acquired");
    expect(leases.left()).toEqual([]);
    expect(markers(other)).toHaveLength(1);
    if (got.status === "acquired") await got.lease.release();
  });

  test("a marker directory that is removed before the publication is made again", async () => {
    const root = abandoned();
    const port = watching(files, (call) => {
      if (call === "publish") rmSync(join(root, MARKERS), { recursive: true });
    });
    const got = await store(port).acquire(root);
    expect(got.status).toBe("acquired");
    expect(markers(root)).toHaveLength(1);
    if (got.status === "acquired") expect(await got.lease.release()).toEqual({ status: "released" });
  });

  test("a marker directory that is moved away before the publication is no place to write from", async () => {
    const root = abandoned();
    const away = join(root, "away");
    const port = watching(files, (call) => {
      if (call === "publish") renameSync(join(root, MARKERS), away);
    });
    await expect(store(port).acquire(root)).rejects.toMatchObject({ code: "directory-vanished", left: undefined });
    expect(markers(root)).toBeUndefined();
    // The dead writer's marker went by recovery before, and the own one went with the failure.
    expect(readdirSync(away)).toEqual([]);
  });

  test("a marker is read up to the limit, and no byte further", async () => {
    const root = destination();
    const path = put(root, `${nonce("1")}.json`, "{");
    const port = files(root, MARKERS);
    const long = "x".repeat(5_000);
    for (const [limit, kind] of [[4_999, "too-large"], [5_000, "whole"]] as const) {
      writeFileSync(path, long);
      const found = await port.read(`${nonce("1")}.json`, limit);
      expect(found.kind).toBe(kind);
      if (found.kind === "whole") expect(Buffer.from(found.bytes).toString()).toBe(long);
    }
    port.close();
  });

  test("a writer that lives again when it is looked at once more is kept", async () => {
    const root = abandoned();
    let asked = 0;
    const port: MakeMarkerFiles = (to, directory) => {
      const made = files(to, directory);
      return new Proxy(made, {
        get(target, name) {
          if (name === "isAlive") return () => asked++ > 0;
          const call = target[name as keyof typeof target] as () => unknown;
          return call.bind(target);
        },
      });
    };
    const { removed, kept } = await store(port).recover(root, { apply: true });
    expect(removed).toEqual([]);
    expect(kept).toMatchObject([{ state: "active" }]);
    expect(asked).toBe(2);
  });

  test("in another process than the one that acquired it, a lease is not released", async () => {
    const root = destination();
    let forked = false;
    const port: MakeMarkerFiles = (to, directory) => {
      const made = files(to, directory);
      const own = made.ownPid.bind(made);
      made.ownPid = () => (forked ? 1 : own());
      return made;
    };
    const got = await store(port).acquire(root);
    if (got.status !== "acquired") throw new Error("not acquired");
    forked = true;
    await expect(got.lease.release()).rejects.toMatchObject({ code: "other-process" });
    expect(markers(root)).toHaveLength(1);
    forked = false;
    expect(await got.lease.release()).toEqual({ status: "released" });
  });

  test("a lease that is disposed of is released", async () => {
    const root = destination();
    const got = await store(files).acquire(root);
    if (got.status === "acquired") await got.lease[Symbol.asyncDispose]();
    expect(markers(root)).toEqual([]);
  });
});

test("a port that answers nonsense fails the operation, and the store goes on", async () => {
  const good = memoryMarkerFiles();
  for (const [name, answer] of [
    ["identity", { host: "", pid: 1 }],
    ["identity", { host: "a", pid: -1 }],
    ["identity", { host: "a", pid: NaN }],
    ["nonce", "1"],
    ["resolveRoot", undefined],
    ["list", [1, undefined, {}]],
    ["publish", Promise.reject(new Error("no"))],
  ] as const) {
    const bad: MakeMarkerFiles = (root, directory) => Object.assign(good(root, directory), { [name]: () => answer });
    await expect(store(bad).acquire("/x")).rejects.toBeInstanceOf(WriterLeaseError);
  }
  expect((await store(good).acquire("/x")).status).toBe("acquired");
});

test("stores in memory exclude and recover each other like those on files", async () => {
  const files = new Map<string, MemoryFile>();
  const alive = new Set([1, 2]);
  const world = (pid: number) =>
    store(memoryMarkerFiles({ files, identity: { host: "test", pid }, alive: (other) => alive.has(other) }));
  const [one, two] = [world(1), world(2)];
  const first = await one.acquire("/archive");
  expect(first.status).toBe("acquired");
  expect(await two.acquire("/archive")).toMatchObject({ status: "busy", owners: [{ owner: { pid: 1 } }] });
  expect((await two.acquire("/other")).status).toBe("acquired");
  alive.delete(1);
  expect((await two.acquire("/archive")).status).toBe("acquired");
  if (first.status === "acquired") expect(await first.lease.release()).toEqual({ status: "lost" });
  const legacy = store(memoryMarkerFiles({ legacy: new Set(["/a/.lock"]), destinations: new Set(["/a"]) }));
  expect(await legacy.acquire("/a")).toMatchObject({ status: "legacy", path: "/a/.lock" });
  await expect(legacy.acquire("/b")).rejects.toMatchObject({ code: "not-found" });
});

test("an identity of the host's own is what its markers say", async () => {
  const root = destination();
  const leases = nativeWriterLeaseStore({ markerDirectory: MARKERS, identity: "build-7" });
  const got = await leases.acquire(root);
  expect(got.status === "acquired" && got.lease.owner.host).toBe("build-7");
  const others = nativeWriterLeaseStore({ markerDirectory: MARKERS });
  expect(await others.inspect(root)).toMatchObject([{ state: "foreign" }]);
});
