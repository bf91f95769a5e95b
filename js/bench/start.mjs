// From the import of a package to its first grant, each time in a process of its own, beside the import of another.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";
import { median } from "./measure.mjs";
import { beside } from "./report.mjs";

const HERE = fileURLToPath(new URL("..", import.meta.url));

export function start(times, peers, folder) {
  const lockfile = JSON.stringify(createRequire(peers).resolve("proper-lockfile"));
  const programs = [
    `const { LeaseTable } = await import("leasebook");
     if (!new LeaseTable().acquire("a", "/x").granted) throw new Error("not granted");`,
    `const { nativeWriterLeaseStore } = await import("leasebook/files");
     const got = await nativeWriterLeaseStore({ markerDirectory: ".start" }).acquire(${JSON.stringify(folder)});
     if (got.status !== "acquired") throw new Error(got.status);
     process.once("exit", () => got.lease.release());`,
    `await import(${lockfile});`,
  ];
  const taken = programs.map(() => []);
  for (let time = 0; time <= times; time++) {
    for (const [at, program] of programs.entries()) {
      const ns = once(program);
      // The first of all brings the files into memory.
      if (time > 0) taken[at].push(ns);
    }
  }
  const [table, files, peer] = taken.map(median);
  const imported = "proper-lockfile, import alone";
  return [
    beside("import of leasebook to its first grant", table, imported, peer),
    beside("import of leasebook/files to its first lease", files, imported, peer),
  ];
}

function once(program) {
  const timed = `const start = performance.now();
    ${program}
    console.log((performance.now() - start) * 1e6);`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "--eval", timed], { cwd: HERE }));
}
