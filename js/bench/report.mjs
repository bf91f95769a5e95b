// What a run found, as a page and as JSON, in the columns of the other benchmarks.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";

const COLUMNS = ["ratio", "at most", "met", "what", "ours", "beside", "peer"];
/** Those that are numbers, which stand to the right. */
const NUMBERS = new Set(["ratio", "at most", "ours", "beside"]);

/** A time beside another; `atMost` bounds their ratio. */
export function beside(what, ours, peer, cost, atMost) {
  const ratio = ours / cost;
  return { what, unit: "ns", ours, peer: { what: peer, cost }, ratio, ...judged(ratio, atMost) };
}

/** A time alone; `atMost` bounds it. */
export function alone(what, ours, atMost) {
  return { what, unit: "ns", ours, ...judged(ours, atMost) };
}

function judged(found, atMost) {
  return atMost === undefined ? {} : { at_most: atMost, met: found <= atMost };
}

/** A number with its thousands apart. */
function thousands(number) {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, " ");
}

function cells({ what, unit, ours, peer, ratio, at_most: atMost, met }) {
  const amount = (number) => (number === undefined ? "" : `${thousands(number)} ${unit}`);
  return {
    what,
    ours: amount(ours),
    peer: peer?.what ?? "",
    beside: amount(peer?.cost),
    ratio: ratio?.toFixed(2) ?? "",
    "at most": atMost === undefined ? "" : ratio === undefined ? amount(atMost) : String(Number(atMost.toFixed(2))),
    met: met === undefined ? "" : met ? "yes" : "NOT MET",
  };
}

function table(rows) {
  const lines = rows.map(cells);
  const width = (name) => Math.max(name.length, ...lines.map((line) => line[name].length));
  const widths = new Map(COLUMNS.map((name) => [name, width(name)]));
  const line = (cell) => `| ${COLUMNS.map((name) => cell(name, widths.get(name))).join(" | ")} |\n`;
  const aligned = (text, name, width) => (NUMBERS.has(name) ? text.padStart(width) : text.padEnd(width));
  const rule = (name, width) => (NUMBERS.has(name) ? `${"-".repeat(width - 1)}:` : `:${"-".repeat(width - 1)}`);
  const body = lines.map((cells) => line((name, width) => aligned(cells[name], name, width)));
  return line((name, width) => aligned(name, name, width)) + line(rule) + body.join("");
}

function processor() {
  const model = /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1];
  return model ?? process.arch;
}

/** Prints the page, and writes the same as JSON. */
export function report(rows, { quick, json, how, browser }) {
  const command = `cargo xtask bench js${quick ? " --quick" : ""}`;
  const met = rows.filter((row) => row.met === true).length;
  const all = rows.filter((row) => row.met !== undefined).length;
  const cores = availableParallelism();
  const on = `${processor()}, ${cores} cores, with Node ${process.versions.node}${browser ? ` and ${browser}` : ""}`;
  const meaning = quick ? "A quick run with little to do: these figures mean nothing.\n\n" : "";
  console.log(`# The npm package\n\n${meaning}${table(rows)}\n${met} of ${all} targets met. ${how}`);
  console.log(`\nMeasured on ${on}, by:\n\n    ${command}`);
  const { node } = process.versions;
  const facts = { quick, command, processor: processor(), cores, node, browser: browser ?? null };
  mkdirSync(dirname(json), { recursive: true });
  writeFileSync(json, `${JSON.stringify({ ...facts, rows }, null, 2)}\n`);
}
