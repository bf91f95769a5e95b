// The packed package in a real browser: in a page, in a module worker, and as the module that a page loads by itself.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
/** Where Chromium is; `cargo xtask` says so. */
const CHROMIUM = process.env["LEASEBOOK_CHROMIUM"];
const excused = (process.env["LEASEBOOK_WITHOUT"] ?? "").split(",").includes("chromium");

/** What runs in the page and in the worker alike. */
const WORK = `
  const table = new LeaseTable();
  const got = table.acquire("a", "/x");
  const waiting = table.acquireWhenFree("b", "/x/1", { timeoutMs: 60_000 });
  const refused = table.acquire("b", "/x/1");
  const store = writerLeaseStore({ markerDirectory: ".w", files: memoryMarkerFiles() });
  const own = await store.acquire("/archive");
  got.release();
  const said = [got.granted, refused.reason, (await waiting).granted, own.status].join(" ");`;
const SAID = "true conflict true acquired";
const IMPORTS = `
  import { LeaseTable } from "leasebook";
  import { memoryMarkerFiles, writerLeaseStore } from "leasebook/files";`;

const SOURCES: Readonly<Record<string, string>> = {
  "page.js": `${IMPORTS} ${WORK} document.title = said;`,
  "worker.js": `${IMPORTS} ${WORK} postMessage(said);`,
  "starts-worker.js": `const worker = new Worker("worker.js", { type: "module" });
    worker.onmessage = ({ data }) => (document.title = data);
    worker.onerror = ({ message }) => (document.title = message);`,
  "slim.js": `import { initialize, LeaseTable } from "leasebook/slim";
    initialize(await (await fetch("leasebook.wasm")).arrayBuffer());
    document.title = String(new LeaseTable().acquire("a", "/x").granted);`,
};

let program: string;
let server: Server;
let browser: Browser;
let origin: string;

beforeAll(async () => {
  if (CHROMIUM === undefined && excused) return;
  program = mkdtempSync(join(tmpdir(), "leasebook-browser-"));
  const pack = ["pack", "--json", "--pack-destination", program];
  const said = JSON.parse(execFileSync("npm", pack, { cwd: PACKAGE, encoding: "utf8" })) as object;
  const { filename } = Object.values(said)[0] as { filename: string };
  writeFileSync(join(program, "package.json"), `{ "name": "program", "private": true }`);
  const install = ["install", "--offline", "--no-audit", "--no-fund", join(program, filename)];
  execFileSync("npm", install, { cwd: program, stdio: "pipe" });
  for (const [name, code] of Object.entries(SOURCES)) writeFileSync(join(program, name), code);
  const entryPoints = Object.keys(SOURCES).map((name) => join(program, name));
  const built = join(program, "built");
  await build({ entryPoints, outdir: built, bundle: true, minify: true, format: "esm", logLevel: "error" });

  server = createServer(({ url = "" }, response) => {
    const name = url.slice(1);
    if (name === "leasebook.wasm") {
      response.setHeader("content-type", "application/wasm");
      response.end(readFileSync(join(program, "node_modules/leasebook/dist/leasebook.wasm")));
    } else if (Object.hasOwn(SOURCES, name)) {
      response.setHeader("content-type", "text/javascript; charset=utf-8").end(readFileSync(join(built, name)));
    } else {
      const page = `<!doctype html><title></title><script type="module" src="${name.replace(".html", ".js")}"></script>`;
      response.setHeader("content-type", "text/html; charset=utf-8").end(page);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // As root, in a container, it has no sandbox to make.
  browser = await chromium.launch({ executablePath: CHROMIUM ?? "chromium", args: ["--no-sandbox"] });
});

afterAll(async () => {
  await browser?.close();
  server?.close();
  if (program !== undefined) rmSync(program, { recursive: true, force: true });
});

/** What a page comes to say in its title, and what it complained of. */
async function opened(name: string): Promise<{ said: string; wrong: string[] }> {
  const page = await browser.newPage();
  const wrong: string[] = [];
  page.on("pageerror", ({ message }) => wrong.push(message));
  await page.goto(`${origin}/${name}.html`);
  await page.waitForFunction(() => document.title !== "");
  const said = await page.title();
  await page.close();
  return { said, wrong };
}

test.skipIf(CHROMIUM === undefined && excused)("it runs in a page, bundled by esbuild", async () => {
  expect(await opened("page")).toEqual({ said: SAID, wrong: [] });
});

test.skipIf(CHROMIUM === undefined && excused)("it runs in a module worker", async () => {
  expect(await opened("starts-worker")).toEqual({ said: SAID, wrong: [] });
});

test.skipIf(CHROMIUM === undefined && excused)("a page can bring the bytes of the module itself", async () => {
  expect(await opened("slim")).toEqual({ said: "true", wrong: [] });
});

test.skipIf(CHROMIUM === undefined && excused)("what is bundled for a browser names nothing of Node", () => {
  expect(readFileSync(join(program, "built/page.js"), "utf8")).not.toContain("node:");
});
