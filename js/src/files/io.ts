// The system calls that marker files take, of Node: all at once, or each awaited.

import * as fs from "node:fs";
import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { Awaitable } from "./types.js";

/** An open file, or directory. */
export interface Handle {
  readonly fd: number;
  readonly file: FileHandle | undefined;
}

/** The calls. Each fails as those of `node:fs` do. */
export interface Io {
  realpath(path: string): Awaitable<string>;
  open(path: string, flags: number, mode?: number): Awaitable<Handle>;
  close(handle: Handle): Awaitable<void>;
  fstat(handle: Handle): Awaitable<BigIntStats>;
  stat(path: string): Awaitable<BigIntStats>;
  lstat(path: string): Awaitable<BigIntStats>;
  mkdir(path: string): Awaitable<unknown>;
  rename(from: string, to: string): Awaitable<void>;
  unlink(path: string): Awaitable<void>;
  rmdir(path: string): Awaitable<void>;
  /** How many bytes were written. */
  write(handle: Handle, bytes: Uint8Array): Awaitable<number>;
  /** How many bytes were read into the buffer from this place in it. */
  read(handle: Handle, buffer: Uint8Array, from: number): Awaitable<number>;
  /** The names in a directory of this size, at most so many. */
  list(path: string, size: bigint, most: number): Awaitable<string[]>;
}

/** How many entries a directory is asked for at a time. */
const ENTRIES = { bufferSize: 256 };
/**
 * A directory up to this size is listed by one call, which is several times as fast as asking for its entries bit by
 * bit. Where a directory's size says what is in it, as on ext4 and tmpfs, that are at most 65 536 names.
 */
const AT_ONCE_BYTES_MAX = 1n << 20n;
const EXACT = { bigint: true } as const;

/** Every call is over when it returns: the fastest on a local disk; a slow one holds the event loop meanwhile. */
export const synchronous: Io = {
  realpath: (path) => fs.realpathSync.native(path),
  open: (path, flags, mode) => ({ fd: fs.openSync(path, flags, mode), file: undefined }),
  close: ({ fd }) => fs.closeSync(fd),
  fstat: ({ fd }) => fs.fstatSync(fd, EXACT),
  stat: (path) => fs.statSync(path, EXACT),
  lstat: (path) => fs.lstatSync(path, EXACT),
  mkdir: (path) => fs.mkdirSync(path),
  rename: (from, to) => fs.renameSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  rmdir: (path) => fs.rmdirSync(path),
  write: ({ fd }, bytes) => fs.writeSync(fd, bytes),
  read: ({ fd }, buffer, from) => fs.readSync(fd, buffer, from, buffer.length - from, null),
  list(path, size, most) {
    if (size <= AT_ONCE_BYTES_MAX) return fs.readdirSync(path).slice(0, most);
    const directory = fs.opendirSync(path, ENTRIES);
    try {
      const names: string[] = [];
      for (let entry = directory.readSync(); entry !== null && names.length < most; entry = directory.readSync()) {
        names.push(entry.name);
      }
      return names;
    } finally {
      directory.closeSync();
    }
  },
};

function opened({ file }: Handle): FileHandle {
  return file as FileHandle;
}

/** Every call is awaited: for mounts that may take long. */
export const asynchronous: Io = {
  // The promise of `fs.realpath` walks the path in JavaScript; this is the call of the system.
  realpath: (path) =>
    new Promise((resolve, reject) =>
      fs.realpath.native(path, (error, found) => (error === null ? resolve(found) : reject(error))),
    ),
  open: async (path, flags, mode) => {
    const file = await fs.promises.open(path, flags, mode);
    return { fd: file.fd, file };
  },
  close: (handle) => opened(handle).close(),
  fstat: (handle) => opened(handle).stat(EXACT),
  stat: (path) => fs.promises.stat(path, EXACT),
  lstat: (path) => fs.promises.lstat(path, EXACT),
  mkdir: (path) => fs.promises.mkdir(path),
  rename: (from, to) => fs.promises.rename(from, to),
  unlink: (path) => fs.promises.unlink(path),
  rmdir: (path) => fs.promises.rmdir(path),
  write: async (handle, bytes) => (await opened(handle).write(bytes)).bytesWritten,
  read: async (handle, buffer, from) =>
    (await opened(handle).read(buffer, from, buffer.length - from, null)).bytesRead,
  async list(path, size, most) {
    if (size <= AT_ONCE_BYTES_MAX) return (await fs.promises.readdir(path)).slice(0, most);
    const names: string[] = [];
    const directory = await fs.promises.opendir(path, ENTRIES);
    for await (const entry of directory) {
      names.push(entry.name);
      if (names.length >= most) break;
    }
    return names;
  },
};
