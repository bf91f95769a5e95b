// The packed package, installed into a program of its own: ES module, CommonJS, types, and the examples of its page.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const TSC = join(PACKAGE, "node_modules/typescript/bin/tsc");
/** A fenced example of TypeScript, and what a comment above it says to do then. */
const EXAMPLE = /(?:<!-- then: (.*) -->\n)?```ts\n([^]*?)```/g;

const readme = readFileSync(join(PACKAGE, "README.md"), "utf8");
const examples = [...readme.matchAll(EXAMPLE)].map(([, then, code]) => `${code}${then ?? ""}\n`);

let program: string;
let packed: { files: { path: string; size: number }[] };

/** Runs a file of the program. */
function run(name: string, code: string): string {
  writeFileSync(join(program, name), code);
  const child = spawnSync(process.execPath, [name], { cwd: program, encoding: "utf8" });
  expect(child.stderr).toBe("");
  expect(child.status).toBe(0);
  return child.stdout;
}

beforeAll(() => {
  program = mkdtempSync(join(tmpdir(), "leasebook-package-"));
  const pack = ["pack", "--json", "--pack-destination", program];
  const said = execFileSync("npm", pack, { cwd: PACKAGE, encoding: "utf8" });
  const all = JSON.parse(said) as unknown;
  const one = (Array.isArray(all) ? all[0] : Object.values(all as object)[0]) as { filename: string } & typeof packed;
  packed = one;
  writeFileSync(join(program, "package.json"), `{ "name": "program", "private": true }`);
  const install = ["install", "--offline", "--no-audit", "--no-fund", join(program, one.filename)];
  execFileSync("npm", install, { cwd: program, stdio: "pipe" });
});

afterAll(() => rmSync(program, { recursive: true, force: true }));

test("what is packed is what runs, and no more", () => {
  const paths = packed.files.map(({ path }) => path);
  const expected = ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "package.json", "dist/leasebook.wasm"];
  expect(paths).toEqual(expect.arrayContaining(expected));
  expect(paths.filter((path) => !/^(dist\/|README|LICENSE|package\.json)/.test(path))).toEqual([]);
  expect(paths.filter((path) => /\.(tsx?|map)$/.test(path) && !path.endsWith(".d.ts"))).toEqual([]);
});

const WORK = `
  const table = new LeaseTable();
  const got = table.acquire("a", ["/x"]);
  const store = nativeWriterLeaseStore({ markerDirectory: ".w" });
  store.acquire(process.cwd()).then(async (own) => {
    console.log(got.granted, table.acquire("b", "/x/1").reason, own.status, (await own.lease.release()).status);
    initialize(readFileSync(wasm));
    console.log(new Slim().acquire("a", "/x").granted);
  });`;
const SAID = "true conflict acquired released\ntrue\n";

test("it runs as an ES module", () => {
  const said = run(
    "module.mjs",
    `import { readFileSync } from "node:fs";
     import { LeaseTable } from "leasebook";
     import { nativeWriterLeaseStore } from "leasebook/files";
     import { initialize, LeaseTable as Slim } from "leasebook/slim";
     const wasm = new URL(import.meta.resolve("leasebook/leasebook.wasm"));
     ${WORK}`,
  );
  expect(said).toBe(SAID);
});

test("it runs as CommonJS", () => {
  const said = run(
    "common.cjs",
    `const { readFileSync } = require("node:fs");
     const { LeaseTable } = require("leasebook");
     const { nativeWriterLeaseStore } = require("leasebook/files");
     const { initialize, LeaseTable: Slim } = require("leasebook/slim");
     const wasm = require.resolve("leasebook/leasebook.wasm");
     ${WORK}`,
  );
  expect(said).toBe(SAID);
});

test("for a runtime without files, writer leases are the port and the store in memory", () => {
  const code = `import { memoryMarkerFiles, nativeWriterLeaseStore } from "leasebook/files";
    try { nativeWriterLeaseStore({ markerDirectory: ".w" }); } catch (error) { console.log(error.message); }
    const store = nativeWriterLeaseStore({ markerDirectory: ".w", files: memoryMarkerFiles() });
    console.log((await store.acquire("/x")).status);`;
  // The conditions of such a runtime, without those of Node.
  const portable = join(program, "node_modules/leasebook/dist/esm/files/portable.js");
  const said = run("worker.mjs", code.replace('"leasebook/files"', JSON.stringify(portable)));
  expect(said).toBe("files: this runtime has no file system; give the store file functions of its own\nacquired\n");
  expect(readFileSync(portable, "utf8")).not.toContain("node:");
});

test("it runs from a production build of Vite, as a browser would get it", async () => {
  const { build } = await import("vite");
  const code = `import { LeaseTable } from "leasebook";
    import { memoryMarkerFiles, writerLeaseStore } from "leasebook/files";
    const store = writerLeaseStore({ markerDirectory: ".w", files: memoryMarkerFiles() });
    store.acquire("/x").then(({ status }) => console.log(new LeaseTable().acquire("a", "/x").granted, status));`;
  writeFileSync(join(program, "page.js"), code);
  const outDir = join(program, "built");
  await build({
    root: program,
    configFile: false,
    logLevel: "error",
    build: {
      outDir,
      minify: true,
      rollupOptions: { input: join(program, "page.js"), output: { entryFileNames: "page.mjs" } },
    },
  });
  const built = readFileSync(join(outDir, "page.mjs"), "utf8");
  expect(built).not.toContain("node:");
  expect(run("page.mjs", built)).toBe("true acquired\n");
});

test("the examples of the page compile as they stand, for both kinds of modules, and run", () => {
  expect(examples.length).toBeGreaterThanOrEqual(5);
  mkdirSync(join(program, "node_modules/@types"), { recursive: true });
  for (const types of ["@types/node", "undici-types"]) {
    symlinkSync(join(PACKAGE, "node_modules", types), join(program, "node_modules", types));
  }
  examples.forEach((code, n) => writeFileSync(join(program, `example-${n}.mts`), code));
  writeFileSync(
    join(program, "old.cts"),
    `import { LeaseTable } from "leasebook";
     import { nativeWriterLeaseStore } from "leasebook/files";
     export const answer: boolean = new LeaseTable().acquire("a", "/x").granted;
     export const store = nativeWriterLeaseStore({ markerDirectory: ".w" });`,
  );
  const options = ["--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext"];
  const lib = ["--lib", "es2022", "--types", "node"];
  const files = [...examples.map((_, n) => `example-${n}.mts`), "old.cts"];
  const tsc = spawnSync(process.execPath, [TSC, ...options, ...lib, ...files], { cwd: program, encoding: "utf8" });
  expect(tsc.stdout).toBe("");
  const node = (name: string) => spawnSync(process.execPath, [name], { cwd: program, encoding: "utf8" });
  examples.forEach((code, n) => {
    const child = node(`example-${n}.mjs`);
    expect(child.stderr).toBe("");
    // What an example says it prints, it prints.
    const told = [...code.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map(([, said]) => said);
    for (const line of told) expect(child.stdout.split("\n")).toContain(line);
  });
});

test("the types are content with the library of browsers", () => {
  writeFileSync(join(program, "bare.mts"), `import { LeaseTable } from "leasebook"; new LeaseTable().leases();`);
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--typeRoots", "none"];
  const args = [TSC, ...options, "--lib", "es2022,dom", "bare.mts"];
  const tsc = spawnSync(process.execPath, args, { cwd: program, encoding: "utf8" });
  expect(tsc.stdout).toBe("");
});
