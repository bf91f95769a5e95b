// A writer in Node, for the tests of writer leases: it does what it is told, line by line, and answers each line by
// one. `js/test/writer` is its twin of the Rust host, and understands the same.

import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { nativeWriterLeaseStore } from "leasebook/files";

/** How long a turn waits at most before it tries again. */
const WAIT_MS_MAX = 12;

const [, , destination, markerDirectory] = process.argv;
const store = nativeWriterLeaseStore({ markerDirectory });
let lease;

async function told(line) {
  switch (line) {
    case "acquire": {
      const got = await store.acquire(destination);
      if (got.status === "busy") return ["busy", ...got.owners.map(({ owner }) => owner?.pid ?? 0)].join(" ");
      if (got.status === "legacy") return `legacy ${got.legacy}`;
      lease = got.lease;
      return "acquired";
    }
    case "release":
      return lease === undefined ? "nothing" : (await lease.release()).status;
    case "recover": {
      const { removed, kept } = await store.recover(destination, { apply: true });
      return `removed ${removed.length} kept ${kept.length}`;
    }
    default:
      return line.startsWith("crowd ") ? crowd(Number(line.slice("crowd ".length))) : "not understood";
  }
}

/** Takes turns with the others, and tells whether anybody was there at the same time. */
async function crowd(times) {
  const file = `${destination}/owner`;
  const own = String(process.pid);
  for (let turns = 0; turns < times; ) {
    const got = await store.acquire(destination);
    if (got.status !== "acquired") {
      await sleep(Math.random() * WAIT_MS_MAX);
      continue;
    }
    writeFileSync(file, own);
    await sleep(0.3);
    if (readFileSync(file, "utf8") !== own) return "two writers";
    const { status } = await got.lease.release();
    if (status !== "released") return status;
    turns += 1;
  }
  return "done";
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await told(line).catch((error) => error.code ?? String(error));
  process.stdout.write(`${answer}\n`);
}
