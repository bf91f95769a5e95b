// `cargo xtask bench js`: what the npm package costs, side by side with what it is compared with.
//
// It is no test: a target that is missed is said, and the program still succeeds.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { inBrowser } from "./browser.mjs";
import { report } from "./report.mjs";
import { start } from "./start.mjs";
import { table } from "./table.mjs";
import { writer } from "./writer.mjs";

const WHOLE = { table: { turns: 40, each: 10_000 }, writer: { turns: 40, each: 50 }, start: 40 };
const QUICK = { table: { turns: 2, each: 100 }, writer: { turns: 2, each: 5 }, start: 1 };

const HOW =
  "All sides of a row run in turn in one process, on the clock; the median over the turns. Of the table,\n" +
  "40 turns of 10 000 pairs, over 10 000 paths that lie all over a tree in an order that jumps about. Of writer\n" +
  "leases, 40 turns of 50 pairs, on one file system. From an import to a first grant, a process of its own each\n" +
  "time, the median of 40.";

const { values: given } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    // Where the peers are installed, and the browser; `cargo xtask` says so.
    peers: { type: "string" },
    scratch: { type: "string" },
    chromium: { type: "string" },
  },
});
const { quick } = given;
const effort = quick ? QUICK : WHOLE;
const peers = resolve(given.peers, "peers.js");
const scratch = resolve(given.scratch);
mkdirSync(scratch, { recursive: true });
const folder = mkdtempSync(join(scratch, "js-"));
try {
  const rows = await table(effort.table, peers);
  rows.push(...(await writer(effort.writer, peers, folder)), ...start(effort.start, peers, folder));
  const browser = given.chromium === undefined ? undefined : await inBrowser(effort.table, given.chromium);
  rows.push(...(browser?.rows ?? []));
  report(rows, { quick, json: resolve(given.json ?? join(scratch, "js.json")), how: HOW, browser: browser?.browser });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
// Locks of peers stand, and would be waited for.
process.exit();
