// A process that dies at any step: never a half marker, never in the way for good.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nativeWriterLeaseStore } from "leasebook/files";
import { expect, test } from "vitest";
import { destination, marker, markers, MARKERS, NOBODY } from "./help.js";

/** More than the steps of one acquisition and one release. */
const STEPS_MAX = 60;

/** Acquires and releases over file functions that end the process, without any clean-up, before or after step N. */
const program = (root: string, step: number, after: boolean) => `
  import { systemMarkerFiles, writerLeaseStore } from "leasebook/files";
  const make = systemMarkerFiles();
  let number = 0;
  const die = () => process.kill(process.pid, "SIGKILL");
  const files = (root, directory) => new Proxy(make(root, directory), {
    get: (target, name) => (...args) => {
      const at = name === "close" ? -1 : number++;
      if (at === ${step} && !${after}) die();
      const done = target[name](...args);
      if (at === ${step}) die();
      return done;
    },
  });
  const got = await writerLeaseStore({ markerDirectory: "${MARKERS}", files }).acquire(${JSON.stringify(root)});
  await got.lease.release();`;

test.each([false, true])("killed at any step of acquire and release (after it: %s), it is recovered", async (after) => {
  const store = nativeWriterLeaseStore({ markerDirectory: MARKERS });
  let deaths = 0;
  for (let step = 0; step < STEPS_MAX; step++) {
    const root = destination();
    marker(root, "1", NOBODY);
    const args = ["--input-type=module", "--eval", program(root, step, after)];
    const child = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (child.status === 0) break;
    expect(child.signal, child.stderr).toBe("SIGKILL");
    deaths += 1;
    for (const name of (markers(root) ?? []).filter((name) => name.endsWith(".json"))) {
      expect(JSON.parse(readFileSync(join(root, MARKERS, name), "utf8"))).toMatchObject({ version: 1 });
    }
    const got = await store.acquire(root);
    if (got.status !== "acquired") throw new Error(`step ${step}: ${JSON.stringify(got)}`);
    await got.lease.release();
    await store.recover(root, { apply: true });
    expect(markers(root)?.filter((name) => name.endsWith(".json"))).toEqual([]);
  }
  expect(deaths).toBeGreaterThan(10);
  expect(deaths).toBeLessThan(STEPS_MAX);
});
