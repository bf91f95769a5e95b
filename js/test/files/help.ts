// What the tests of writer leases share: destinations, markers written by hand, children.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { MakeMarkerFiles, MarkerFiles } from "leasebook/files";
import { afterEach } from "vitest";

export const MARKERS = ".writers";
/** A process id that no process has: above what Linux gives out. */
export const NOBODY = 2 ** 31 - 2;

const folders: string[] = [];
const children: Child[] = [];

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A fresh destination, by its physical path. */
export function destination(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leasebook-js-")));
  folders.push(folder);
  return folder;
}

export function nonce(digit: string): string {
  return digit.repeat(32);
}

/** Puts a file into the marker directory, and answers its path. */
export function put(root: string, name: string, content: string): string {
  mkdirSync(join(root, MARKERS), { recursive: true });
  const path = join(root, MARKERS, name);
  writeFileSync(path, content);
  return path;
}

/** Puts a marker there as any program may write it. */
export function marker(root: string, digit: string, pid: number, host = hostname()): string {
  const record = { version: 1, pid, host, nonce: nonce(digit) };
  return put(root, `${nonce(digit)}.json`, `${JSON.stringify(record)}\n`);
}

/** The names in the marker directory, sorted; none where there is none. */
export function markers(root: string): string[] | undefined {
  const folder = join(root, MARKERS);
  return existsSync(folder) ? readdirSync(folder).sort() : undefined;
}

/** A child that is told lines and answers them. */
export class Child {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly #over: Promise<void>;

  constructor(program: string, args: string[]) {
    this.#process = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    // Whoever is killed while it is told something says so by its end.
    this.#process.stdin.on("error", () => undefined);
    this.#over = new Promise((resolve) => this.#process.once("close", () => resolve()));
    children.push(this);
  }

  static node(root: string): Child {
    return new Child(process.execPath, [fileURLToPath(new URL("writer.mjs", import.meta.url)), root, MARKERS]);
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  /** Tells it something, and answers what it says; nothing where it ends instead. */
  async ask(line: string): Promise<string | undefined> {
    this.#process.stdin.write(`${line}\n`);
    const { value, done } = await this.#lines.next();
    return done === true ? undefined : (value as string);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Ends it by SIGKILL, and waits until it is gone. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#over;
  }
}

/** The calls of a port, in order, each with a chance to do something before it. */
export function watching(make: MakeMarkerFiles, before: (call: string, number: number) => unknown): MakeMarkerFiles {
  let number = 0;
  return (root, directory) => {
    const files = make(root, directory);
    return new Proxy(files, {
      get(target, name: keyof MarkerFiles) {
        const call = target[name] as (...args: unknown[]) => unknown;
        if (name === "close") return call.bind(target);
        return (...args: unknown[]) => {
          const first = before(name, number++);
          const go = () => call.apply(target, args);
          return first instanceof Promise ? first.then(go) : go();
        };
      },
    });
  };
}
