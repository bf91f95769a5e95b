// A lease book over a pipe, one line of JSON in, one out: what `cargo xtask vectors DIR --runtime js` replays recorded
// runs through. It speaks the lines of `leasebook table`, as far as recorded runs use them. With the folder of a
// transpiled component as its argument, its tables are that component's (`--runtime jco`).

import { createInterface } from "node:readline";
import * as leasebook from "leasebook";
import { transpiled } from "./component/tables.mjs";

let now = 0;
const [, , component] = process.argv;
const runtime = component === undefined ? "js" : "jco";
const { contains, LeaseTable } = component === undefined ? leasebook : await transpiled(component, () => now);
let table = new LeaseTable({ clock: () => now, events: 1024 });

/** Renames the fields of everything, at any depth. */
function renamed(value, rename) {
  if (Array.isArray(value)) return value.map((one) => renamed(one, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [rename(name), renamed(one, rename)]));
}

const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const camel = (name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
const given = (value) => value ?? undefined;
const wishes = ({ paths, modes }) => paths.map((path, n) => ({ path, mode: modes?.[n] }));

function begin(line, records) {
  const options = {
    clock: () => now,
    events: 1024,
    defaultTtlMs: given(line.defaultTtlMs),
    fairness: given(line.fairness),
  };
  const made = records === undefined ? new LeaseTable(options) : LeaseTable.restore(records, options);
  table.dispose();
  table = made;
  return { fairness: line.fairness ?? "barge", defaultTtlMs: line.defaultTtlMs ?? 300_000, runtime };
}

function restored(line) {
  try {
    return { restored: true, ...begin(line, line.records) };
  } catch (error) {
    if (!(error instanceof leasebook.RestoreError)) throw error;
    return { restored: false, record: error.record, expected: error.expected, sentence: error.message };
  }
}

function released(line) {
  const named = line.generation == null ? undefined : { generation: line.generation };
  const what = line.paths?.length > 0 ? line.paths : named;
  const { refused, ...answer } = table.release(line.holder, what);
  return { ...answer, ...refused };
}

function waited(line) {
  const options = { ttlMs: given(line.ttlMs), keepMs: given(line.keepMs), allowHold: given(line.allowHold) };
  return table.waitAttempt(line.waiterId, line.holder, wishes(line), options);
}

const OPERATIONS = {
  new: (line) => begin(line),
  restore: restored,
  advance: () => ({ atMs: now }),
  acquire: (line) => table.acquire(line.holder, wishes(line), { ttlMs: given(line.ttlMs) }),
  "wait-attempt": waited,
  "cancel-wait": (line) => ({ found: table.cancelWait(line.waiterId) }),
  refresh: (line) => table.refresh(line.holder, line.generation, { ttlMs: given(line.ttlMs) }),
  release: released,
  "release-holder": (line) => ({ count: table.releaseHolder(line.holder) }),
  "release-all": () => ({ count: table.releaseAll() }),
  "end-session": (line) => ({ count: table.endSession(line.holder) }),
  revoke: (line) => table.revoke(line.generation, { force: given(line.force) }),
  pin: (line) => table.pin(line.holder, line.paths, { mode: given(line.mode), deadlineMs: given(line.deadlineMs) }),
  unpin: (line) => ({ found: table.unpin(line.token) }),
  covering: (line) => table.covering(line.holder, line.path, given(line.mode)),
  contains: (line) => ({ contains: contains(line.path, line.directory) }),
  ready: () => ({ ready: table.ready() }),
  "next-deadline": () => ({ deadlineMs: table.nextDeadline() ?? null }),
  leases: () => ({ leases: table.leases() }),
  status: () => table.status(),
  events: () => ({ events: table.takeEvents() }),
  records: () => ({ records: table.records() }),
};

let number = 0;
for await (const text of createInterface({ input: process.stdin })) {
  number += 1;
  let answer;
  try {
    const line = renamed(JSON.parse(text), camel);
    // A new table begins at its own moment, also an earlier one.
    now = line.op === "new" || line.op === "restore" ? line.atMs : Math.max(now, line.atMs);
    answer = renamed(OPERATIONS[line.op](line), kebab);
    // JSON has no word for what is not there.
    if (answer.reason === "invalid-keep") answer["keep-ms"] ??= null;
  } catch (error) {
    answer = { error: { line: number, field: null, reason: String(error) } };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
