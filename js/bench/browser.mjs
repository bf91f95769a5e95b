// The table in Chromium, beside Web Locks.

import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { beside } from "./report.mjs";

/** What Chromium is started with: as root, in a container, it has no sandbox to make. */
const ARGUMENTS = ["--no-sandbox"];

/** The rows, and which browser it was. */
export async function inBrowser(effort, executablePath) {
  const entryPoints = [fileURLToPath(new URL("page.mjs", import.meta.url))];
  const { outputFiles } = await build({ entryPoints, bundle: true, format: "esm", minify: true, write: false });
  const code = outputFiles[0].contents;
  const server = createServer(({ url }, response) => {
    const [type, body] = url === "/page.mjs" ? ["text/javascript", code] : ["text/html", PAGE];
    response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  try {
    const page = await browser.newPage();
    // Web Locks are for pages of a safe origin, which this machine's own address is.
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.waitForFunction(() => globalThis.measured !== undefined);
    const [pair, locks] = await page.evaluate((effort) => globalThis.measured(effort), effort);
    const what = "acquire + release of one path, 10 000 standing leases, in Chromium";
    return {
      rows: [beside(what, pair, "Web Locks, request, awaited", locks)],
      browser: `Chromium ${browser.version()}`,
    };
  } finally {
    await browser.close();
    server.close();
  }
}

const PAGE = `<!doctype html><title>Leasebook</title><script type="module" src="page.mjs"></script>`;
