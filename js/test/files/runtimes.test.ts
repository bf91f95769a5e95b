// Node and the Rust host on one destination: they exclude each other, and recover each other's dead.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { nativeWriterLeaseStore } from "leasebook/files";
import { expect, test } from "vitest";
import { Child, destination, markers, MARKERS } from "./help.js";

/** The program of the Rust host, which `cargo xtask test js` builds. */
const RUST =
  process.env["LEASEBOOK_RUST_WRITER"] ??
  fileURLToPath(new URL("../../../target/debug/leasebook-js-writer", import.meta.url));

/** How many writers take turns, how many of each kind of runtime, and how many turns each takes. */
const CROWD = 8;
const TURNS = 20;

const runtimes: Record<string, (root: string) => Child> = {
  node: (root) => Child.node(root),
  rust: (root) => new Child(RUST, [root, MARKERS]),
};
const pairs = [
  ["node", "rust"],
  ["rust", "node"],
] as const;

test("the program of the Rust host is there", () => {
  expect(existsSync(RUST), `${RUST}: run the tests by \`cargo xtask test js\`, which builds it`).toBe(true);
});

test.each(pairs)("who holds in %s is in the way in %s, until it releases", async (one, two) => {
  const root = destination();
  const [holder, other] = [runtimes[one]!(root), runtimes[two]!(root)];
  expect(await holder.ask("acquire")).toBe("acquired");
  expect(await other.ask("acquire")).toBe(`busy ${holder.pid}`);
  expect(await other.ask("recover")).toBe("removed 0 kept 1");
  expect(await holder.ask("release")).toBe("released");
  expect(await other.ask("acquire")).toBe("acquired");
  expect(await other.ask("release")).toBe("released");
});

test.each(pairs)("who was killed in %s is recovered in %s", async (one, two) => {
  const root = destination();
  const [holder, other] = [runtimes[one]!(root), runtimes[two]!(root)];
  expect(await holder.ask("acquire")).toBe("acquired");
  await holder.kill();
  expect(await other.ask("recover")).toBe("removed 1 kept 0");
  const second = runtimes[one]!(root);
  expect(await second.ask("acquire")).toBe("acquired");
  await second.kill();
  expect(await other.ask("acquire")).toBe("acquired");
  expect(markers(root)).toHaveLength(1);
});

test("of a mixed crowd never two write, and all have their turns, while others are killed among them", async () => {
  const root = destination();
  const all = Array.from({ length: CROWD * 2 }, (_, n) => runtimes[n % 2 === 0 ? "node" : "rust"]!(root));
  const answers = Promise.all(all.map((child) => child.ask(`crowd ${TURNS}`)));
  let over = false;
  void answers.finally(() => (over = true));
  let killed = 0;
  const deaths = (async () => {
    while (!over) {
      const victim = runtimes[killed % 2 === 0 ? "rust" : "node"]!(root);
      void victim.ask("crowd 1000000");
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200));
      await victim.kill();
      killed += 1;
    }
  })();
  expect(await answers).toEqual(Array<string>(CROWD * 2).fill("done"));
  await deaths;
  expect(killed).toBeGreaterThan(0);
  // What the dead have left is stale, and goes.
  const store = nativeWriterLeaseStore({ markerDirectory: MARKERS });
  expect((await store.acquire(root)).status).toBe("acquired");
  expect(markers(root)?.filter((name) => name.endsWith(".json"))).toHaveLength(1);
});
