// Writer leases on real files, with all system calls at once and with each awaited.

import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import {
  nativeWriterLeaseStore,
  systemMarkerFiles,
  WriterLeaseError,
  type WriterLease,
  type WriterLeaseAcquisition,
} from "leasebook/files";
import { describe, expect, test } from "vitest";
import { Child, destination, marker, markers, MARKERS, NOBODY, nonce, put } from "./help.js";

function acquired(got: WriterLeaseAcquisition): WriterLease {
  if (got.status !== "acquired") throw new Error(`not acquired: ${JSON.stringify(got)}`);
  return got.lease;
}

/** The system calls of this process, on the real name of this host. */
describe.each([false, true])("asynchronous: %s", (asynchronous) => {
  const store = (legacyMarkers: string[] = []) =>
    nativeWriterLeaseStore({
      markerDirectory: MARKERS,
      legacyMarkers,
      files: systemMarkerFiles({ asynchronous }),
    });

  test("a marker says who writes, and goes with the lease", async () => {
    const root = destination();
    const lease = acquired(await store().acquire(root));
    expect(lease.owner).toEqual({ pid: process.pid, host: hostname(), nonce: expect.stringMatching(/^[0-9a-f]{32}$/) });
    const line = `{"version":1,"pid":${process.pid},"host":"${hostname()}","nonce":"${lease.owner.nonce}"}\n`;
    expect(readFileSync(lease.path, "utf8")).toBe(line);
    expect(lease.path).toBe(join(root, MARKERS, `${lease.owner.nonce}.json`));
    expect(statSync(lease.path).mode & 0o133).toBe(0);
    const busy = await store().acquire(root);
    expect(busy).toMatchObject({ status: "busy", owners: [{ state: "active", owner: lease.owner }] });
    expect(await lease.release()).toEqual({ status: "released" });
    expect(markers(root)).toEqual([]);
  });

  test("an alias of the root is the same destination", async () => {
    const root = destination();
    mkdirSync(join(root, "real"));
    symlinkSync(join(root, "real"), join(root, "alias"));
    const lease = acquired(await store().acquire(join(root, "alias")));
    expect(lease.path.startsWith(join(root, "real", MARKERS))).toBe(true);
    expect((await store().acquire(join(root, "real"))).status).toBe("busy");
    await lease.release();
  });

  test("a destination that is none is an error that says so", async () => {
    const root = destination();
    writeFileSync(join(root, "file"), "");
    for (const [path, code] of [
      [join(root, "none"), "not-found"],
      [join(root, "file"), "not-a-directory"],
      ["a\0b", "other"],
    ] as const) {
      const failed = await store().acquire(path).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(WriterLeaseError);
      expect(failed).toMatchObject({ code, step: "resolve-root", cause: expect.any(Error) });
    }
  });

  test("a child that releases lets others in, one that is killed is recovered", async () => {
    const root = destination();
    const child = Child.node(root);
    expect(await child.ask("acquire")).toBe("acquired");
    const busy = await store().acquire(root);
    expect(busy).toMatchObject({ status: "busy", owners: [{ state: "active", owner: { pid: child.pid } }] });
    expect(await child.ask("release")).toBe("released");
    await acquired(await store().acquire(root)).release();
    expect(await child.ask("acquire")).toBe("acquired");
    await child.kill();
    expect(await store().inspect(root)).toMatchObject([{ state: "stale", owner: { pid: child.pid } }]);
    await acquired(await store().acquire(root)).release();
    expect(markers(root)).toEqual([]);
  });

  test("a child that is stopped keeps its lease, and goes on with it", async () => {
    const root = destination();
    const child = Child.node(root);
    expect(await child.ask("acquire")).toBe("acquired");
    child.signal("SIGSTOP");
    expect((await store().acquire(root)).status).toBe("busy");
    expect(await store().recover(root, { apply: true })).toMatchObject({ removed: [], kept: [{ state: "active" }] });
    child.signal("SIGCONT");
    expect(await child.ask("release")).toBe("released");
  });

  test("inspection and recovery tell every state in order, and only what is stale is removed", async () => {
    const root = destination();
    marker(root, "4", NOBODY);
    marker(root, "1", process.pid);
    marker(root, "3", NOBODY, "elsewhere");
    put(root, `${nonce("2")}.json`, "{}");
    marker(root, "5", 1);
    put(root, "notes.txt", "not ours");
    const states = ["active", "unrecognized", "foreign", "stale", "active"];
    const found = await store().inspect(root);
    expect(found.map(({ state }) => state)).toEqual(states);
    expect(found[1]?.detail).toEqual(expect.any(String));
    expect(found[1]?.owner).toBeUndefined();
    expect(found[2]).toMatchObject({ owner: { host: "elsewhere", pid: NOBODY }, sinceMs: expect.any(Number) });
    const looked = await store().recover(root);
    expect(looked).toMatchObject({ removed: [], tidied: [], untidied: [] });
    expect(looked.kept).toHaveLength(5);
    const { removed, kept } = await store().recover(root, { apply: true });
    expect(removed.map(({ name }) => name)).toEqual([`${nonce("4")}.json`]);
    expect(kept).toHaveLength(4);
    expect(markers(root)).toHaveLength(5);
    const busy = await store().acquire(root);
    expect(busy.status === "busy" && busy.owners).toHaveLength(4);
    expect(markers(root)).toHaveLength(5);
  });

  test("odd files are in the way, are kept, and hang nobody", async () => {
    const root = destination();
    marker(root, "1", NOBODY);
    symlinkSync(`${nonce("1")}.json`, join(root, MARKERS, `${nonce("2")}.json`));
    execFileSync("mkfifo", [join(root, MARKERS, `${nonce("3")}.json`)]);
    mkdirSync(join(root, MARKERS, `${nonce("4")}.json`));
    put(root, `${nonce("5")}.json`, " ".repeat(4_097));
    const busy = await store().acquire(root);
    expect(busy.status === "busy" && busy.owners.map(({ state }) => state)).toEqual(Array(4).fill("unrecognized"));
    expect(markers(root)).toEqual(["2", "3", "4", "5"].map((digit) => `${nonce(digit)}.json`));
  });

  test("a marker directory that is a link or a file is refused", async () => {
    for (const make of [
      (root: string) => symlinkSync(root, join(root, MARKERS)),
      (root: string) => writeFileSync(join(root, MARKERS), ""),
    ]) {
      const root = destination();
      make(root);
      await expect(store().acquire(root)).rejects.toMatchObject({ code: "marker-directory-unsafe" });
      await expect(store().inspect(root)).rejects.toMatchObject({ code: "marker-directory-unsafe" });
    }
  });

  test("a legacy marker refuses, of whatever type, and is kept", async () => {
    const root = destination();
    const names = ["locks/writer.lock", ".writer.lock"];
    await acquired(await store(names).acquire(root)).release();
    symlinkSync("nowhere", join(root, ".writer.lock"));
    const path = join(root, ".writer.lock");
    expect(await store(names).acquire(root)).toEqual({ status: "legacy", legacy: ".writer.lock", path });
    unlinkSync(path);
    mkdirSync(join(root, "locks/writer.lock"), { recursive: true });
    expect(await store(names).acquire(root)).toMatchObject({ status: "legacy", legacy: "locks/writer.lock" });
    rmSync(join(root, "locks"), { recursive: true });
    symlinkSync(root, join(root, "locks"));
    await expect(store(names).acquire(root)).rejects.toMatchObject({ code: "link", step: "legacy-exists" });
  });

  test("calls of release share one completion, and a marker that is not the own one is kept", async () => {
    const root = destination();
    const lease = acquired(await store().acquire(root));
    const whole = readFileSync(lease.path, "utf8");
    writeFileSync(lease.path, whole.replace(`"pid":${process.pid}`, '"pid":1'));
    await expect(lease.release()).rejects.toMatchObject({ code: "own-marker-changed", path: lease.path });
    expect(markers(root)).toHaveLength(1);
    writeFileSync(lease.path, whole);
    const all = await Promise.all([lease.release(), lease.release(), lease.release()]);
    expect(all).toEqual(Array(3).fill({ status: "released" }));
    expect(await lease.release()).toEqual({ status: "released" });
    const other = acquired(await store().acquire(root));
    unlinkSync(other.path);
    expect(await other.release()).toEqual({ status: "lost" });
    expect(await other.release()).toEqual({ status: "lost" });
  });

  test("a lease is released where its destination went", async () => {
    const root = destination();
    mkdirSync(join(root, "before"));
    const lease = acquired(await store().acquire(join(root, "before")));
    renameSync(join(root, "before"), join(root, "after"));
    mkdirSync(join(root, "before"));
    expect(await lease.release()).toEqual({ status: "released" });
    expect(markers(join(root, "after"))).toEqual([]);
  });

  test("half-made markers are removed an hour later, or when their writer is dead", async () => {
    const root = destination();
    const old = put(root, `${nonce("1")}.tmp`, "");
    utimesSync(old, new Date(Date.now() - 3_700_000), new Date(Date.now() - 3_700_000));
    put(root, `${nonce("2")}.tmp`, "");
    const dead = { version: 1, pid: NOBODY, host: hostname(), nonce: nonce("3") };
    put(root, `${nonce("3")}.tmp`, `${JSON.stringify(dead)}\n`);
    put(root, "4.tmp", "not ours");
    const { tidied } = await store().recover(root, { apply: true });
    expect(tidied.sort()).toEqual([`${nonce("1")}.tmp`, `${nonce("3")}.tmp`]);
    expect(markers(root)).toEqual([`${nonce("2")}.tmp`, "4.tmp"]);
  });

  test("an operator removes one named marker by repeating what it says", async () => {
    const root = destination();
    marker(root, "1", 7, "elsewhere");
    put(root, `${nonce("2")}.json`, "?");
    const leases = store();
    const [first, second] = [nonce("1"), nonce("2")];
    const said = { host: "elsewhere", pid: 7 };
    const other = await leases.removeNamed(root, first, { ...said, pid: 8 });
    expect(other).toMatchObject({ status: "different", owner: said });
    expect(await leases.removeNamed(root, first, undefined)).toMatchObject({ status: "different" });
    expect(await leases.removeNamed(root, first, said)).toMatchObject({ status: "removed", owner: said });
    expect(await leases.removeNamed(root, first, said)).toEqual({ status: "absent" });
    expect(await leases.removeNamed(root, second, undefined)).toEqual({ status: "removed" });
    await expect(leases.removeNamed(root, "../x", said)).rejects.toMatchObject({ code: "invalid-nonce" });
  });

  test("a large directory is gone through, and the own marker found in it", async () => {
    const root = destination();
    mkdirSync(join(root, MARKERS));
    // So many long ones that the directory is asked for its names bit by bit.
    const names = Array.from({ length: 6_000 }, (_, n) => `${"x".repeat(240)}${n}`);
    for (const name of names) writeFileSync(join(root, MARKERS, name), "");
    await acquired(await store().acquire(root)).release();
    expect(await store().inspect(root)).toEqual([]);
  });

  test("hundreds of leases leave no file open", async () => {
    const root = destination();
    const open = () => execFileSync("ls", [`/proc/${process.pid}/fd`], { encoding: "utf8" }).split("\n").length;
    const leases = store();
    await acquired(await leases.acquire(root)).release();
    const before = open();
    for (let n = 0; n < 300; n++) {
      const lease = acquired(await leases.acquire(root));
      expect((await leases.acquire(root)).status).toBe("busy");
      await lease.release();
      await leases.inspect(root);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(open()).toBeLessThan(before + 10);
  });
});

test("making a store does no I/O, and its names are read at once", () => {
  for (const markerDirectory of ["", ".", "..", "a/b", "a\\b", "a\0", "x".repeat(256)]) {
    expect(() => nativeWriterLeaseStore({ markerDirectory })).toThrow(/^markerDirectory: /);
  }
  const markerDirectory = MARKERS;
  for (const legacy of ["", "/a", "../a", "a//b"]) {
    expect(() => nativeWriterLeaseStore({ markerDirectory, legacyMarkers: [legacy] })).toThrow(/^legacyMarkers: /);
  }
  const many = Array<string>(100_000).fill("a");
  expect(() => nativeWriterLeaseStore({ markerDirectory, legacyMarkers: many })).toThrow(/at most 64/);
  for (const wrong of [undefined, null, 5, { markerDirectory: 5 }, { markerDirectory, legacyMarkers: "a" }]) {
    expect(() => nativeWriterLeaseStore(wrong as never)).toThrow(TypeError);
  }
  const wrong = nativeWriterLeaseStore({ markerDirectory }).acquire(5 as unknown as string);
  return expect(wrong).rejects.toThrow("destination: expected a string");
});

test("a process of another namespace is foreign, never stale", () => {
  const root = destination();
  marker(root, "1", NOBODY);
  const program = `import { nativeWriterLeaseStore } from "leasebook/files";
    const store = nativeWriterLeaseStore({ markerDirectory: "${MARKERS}" });
    console.log((await store.inspect(${JSON.stringify(root)})).map(({ state }) => state).join());`;
  const node = [process.execPath, "--input-type=module", "--eval", program];
  const inside = spawnSync("unshare", ["-pf", "--mount-proc", ...node], { encoding: "utf8" });
  // Where namespaces may not be made, there is nothing to look into.
  if (inside.status === 0) expect(inside.stdout).toBe("foreign\n");
  else expect(inside.stderr + String(inside.error)).toMatch(/unshare/);
});

test("a host that is given another name meanwhile does not make a process foreign to itself", () => {
  const root = destination();
  const program = `import { execFileSync } from "node:child_process";
    import { hostname } from "node:os";
    import { nativeWriterLeaseStore } from "leasebook/files";
    const store = nativeWriterLeaseStore({ markerDirectory: "${MARKERS}" });
    await store.acquire(${JSON.stringify(root)});
    execFileSync("hostname", ["renamed-since"]);
    const [found] = await store.inspect(${JSON.stringify(root)});
    console.log(hostname(), found.state, found.owner.host === hostname());`;
  const node = [process.execPath, "--input-type=module", "--eval", program];
  const inside = spawnSync("unshare", ["-u", ...node], { encoding: "utf8" });
  // Where namespaces may not be made, the name of the machine is not ours to change.
  if (inside.status === 0) expect(inside.stdout).toBe("renamed-since active false\n");
  else expect(inside.stderr + String(inside.error)).toMatch(/unshare/);
});

test("while the event loop is held, a lease stays in the way of others, and is released afterwards", async () => {
  const root = destination();
  const store = nativeWriterLeaseStore({ markerDirectory: MARKERS });
  const got = await store.acquire(root);
  const program = `import { nativeWriterLeaseStore } from "leasebook/files";
    const store = nativeWriterLeaseStore({ markerDirectory: "${MARKERS}" });
    const { removed, kept } = await store.recover(${JSON.stringify(root)}, { apply: true });
    console.log(removed.length, kept[0].state, (await store.acquire(${JSON.stringify(root)})).status);`;
  // It holds the event loop until the child is gone.
  const child = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  expect(child.stdout).toBe("0 active busy\n");
  expect(got.status === "acquired" && (await got.lease.release())).toEqual({ status: "released" });
});

test("a lease that is forgotten is warned about, and its marker stays", () => {
  const root = destination();
  const program = `import { nativeWriterLeaseStore } from "leasebook/files";
    const store = nativeWriterLeaseStore({ markerDirectory: "${MARKERS}" });
    process.on("warning", (warning) => { console.log(warning.name); process.exit(); });
    await (async () => { await store.acquire(${JSON.stringify(root)}); })();
    setInterval(() => gc(), 5);`;
  const args = ["--expose-gc", "--input-type=module", "--eval", program];
  const child = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
  expect(child.stdout).toBe("LeasebookWarning\n");
  expect(markers(root)).toHaveLength(1);
});
