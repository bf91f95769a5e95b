// Marker files on the file systems of this machine.
//
// Where Linux shows open directories as paths (`/proc/self/fd`), two of them are opened and kept, that of the physical
// root and that of the markers, and every name is looked up below them: a destination that moves takes its markers
// along, and nothing outside is reached. Elsewhere directories are found by path at every step.

import type { BigIntStats } from "node:fs";
import { constants, existsSync } from "node:fs";
import { randomFillSync } from "node:crypto";
import { sep } from "node:path";
import { identity } from "./identity.js";
import type { Handle, Io } from "./io.js";
import { run, step, type Steps } from "./steps.js";
import { type Awaitable, type FileCode, type MarkerContents, MarkerFileError, type MarkerFiles } from "./types.js";

/** As many names as an operation goes through, and one more, which tells it that there are too many. */
const LISTED_MAX = 1_000_001;
/** The largest marker that is read or published, in bytes, whatever limit a caller names. */
const MARKER_BYTES_MAX = 65_536;
/** Everybody who may enter the directory may read a marker, so that accounts see each other. */
const MARKER_MODE = 0o644;
/** The links to open files, where the system has them. */
const DESCRIPTORS = "/proc/self/fd";
/** `O_PATH` of Linux, which Node has no name for: a directory to look into, without the right to read it. */
const O_PATH = 0o10000000;

const MARKER = /^[0-9a-f]{32}\.(json|tmp)$/;
const NONCE = /^[0-9a-f]{32}$/;

const CODES: Readonly<Record<string, FileCode>> = {
  ENOENT: "not-found",
  ENOTDIR: "not-a-directory",
  EACCES: "permission-denied",
  EPERM: "permission-denied",
  EROFS: "read-only",
  ENOSPC: "no-space",
  EDQUOT: "no-space",
  EMFILE: "too-many-open-files",
  ENFILE: "too-many-open-files",
  ENAMETOOLONG: "name-too-long",
  ELOOP: "link",
  EEXIST: "already-exists",
  EIO: "input-output",
};

/** What opening says of a link, a socket, or a device without a driver. */
const NOT_ORDINARY = ["ELOOP", "EMLINK", "ENXIO", "ENODEV", "EOPNOTSUPP", "ENOTSUP"];

/** Random bytes in a nonce: as many as its 32 digits tell. */
const NONCE_BYTES = 16;
/** Random bytes that nobody has had, drawn for many nonces at once: each draw costs as much as two system calls. */
const pool = Buffer.alloc(64 * NONCE_BYTES);
let drawn = pool.length;

let descriptors: boolean | undefined;

/** Can open directories be named as paths? */
function hasDescriptors(): boolean {
  return (descriptors ??= process.platform === "linux" && existsSync(DESCRIPTORS));
}

/** A directory: open, or known by its path. */
interface Directory {
  readonly path: string;
  readonly handle: Handle | undefined;
  readonly file: Stat;
}

type FileId = Pick<BigIntStats, "dev" | "ino">;
type Stat = FileId & Pick<BigIntStats, "size">;

/** Something in a directory, for the system. */
function at(directory: Directory, name: string): string {
  return directory.handle === undefined
    ? `${directory.path}${sep}${name}`
    : `${DESCRIPTORS}/${directory.handle.fd}/${name}`;
}

/** A directory itself, for the system. */
function own({ path, handle }: Directory): string {
  return handle === undefined ? path : `${DESCRIPTORS}/${handle.fd}`;
}

function isSame(a: FileId, b: FileId): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined | null)?.code);
}

/** What the system said; it names no path that only this process has. */
function said(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split(", ")[0] ?? message;
}

function failed(path: string, error: unknown, left?: string): MarkerFileError {
  if (error instanceof MarkerFileError) return error;
  const more = left === undefined ? "" : `; ${left} could not be removed and is still there`;
  return new MarkerFileError(CODES[codeOf(error)] ?? "other", path, said(error) + more, { cause: error });
}

function vanished(path: string): MarkerFileError {
  return new MarkerFileError("directory-vanished", path, "the marker directory went away between two steps");
}

function replaced(path: string): MarkerFileError {
  const message = "the destination leads elsewhere than when this operation began";
  return new MarkerFileError("directory-vanished", path, message);
}

function unsafe(path: string): MarkerFileError {
  const message = "the marker directory must be a directory, and is a link or another file";
  return new MarkerFileError("marker-directory-unsafe", path, message);
}

/** Only the names of markers are touched, whoever asks. */
function checked(pattern: RegExp, name: string): string {
  if (pattern.test(name)) return name;
  throw new MarkerFileError("other", name, "expected the name of a marker");
}

/** The file functions of one operation or lease. */
export class SystemFiles implements MarkerFiles {
  readonly #io: Io;
  readonly #destination: string;
  readonly #name: string;
  readonly #identity: string | undefined;
  #root: Directory | undefined;
  #markers: (Directory & { published: boolean }) | undefined;

  constructor(io: Io, destination: string, markerDirectory: string, identity: string | undefined) {
    this.#io = io;
    this.#destination = destination;
    this.#name = markerDirectory;
    this.#identity = identity;
  }

  resolveRoot(): Awaitable<{ root: string; markers: string }> {
    return run(this.#resolved());
  }

  legacyExists(name: string): Awaitable<string | undefined> {
    return run(this.#legacy(name));
  }

  identity(): { host: string; pid: number } {
    return { host: this.#identity ?? identity(), pid: process.pid };
  }

  ownPid(): number {
    return process.pid;
  }

  nonce(): string {
    if (drawn === pool.length) {
      randomFillSync(pool);
      drawn = 0;
    }
    return pool.toString("hex", drawn, (drawn += NONCE_BYTES));
  }

  publish(nonce: string, content: string): Awaitable<void> {
    return run(this.#publish(checked(NONCE, nonce), Buffer.from(content)));
  }

  list(): Awaitable<string[] | undefined> {
    return run(this.#list());
  }

  read(name: string, limit: number): Awaitable<MarkerContents> {
    return run(this.#read(checked(MARKER, name), Math.min(limit, MARKER_BYTES_MAX)));
  }

  isAlive(pid: number): boolean {
    // To the system 0 and below mean groups; nobody may be asked about them.
    if (!Number.isInteger(pid) || pid < 1 || pid > 0x7fff_ffff || process.platform === "win32") return true;
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      return codeOf(error) !== "ESRCH";
    }
  }

  ageMs(name: string, beside: string): Awaitable<number | undefined> {
    return run(this.#age(checked(MARKER, name), checked(MARKER, beside)));
  }

  remove(name: string): Awaitable<boolean> {
    return run(this.#remove(checked(MARKER, name)));
  }

  removeDirectoryIfEmpty(): Awaitable<void> {
    return run(this.#removeDirectory());
  }

  close(): void {
    const open = [this.#root?.handle, this.#markers?.handle];
    this.#root = this.#markers = undefined;
    for (const handle of open) if (handle !== undefined) this.#shut(handle);
  }

  /** Closes; a directory that was only looked into has nothing to lose. */
  #shut(handle: Handle): void {
    void Promise.resolve(this.#io.close(handle)).catch(() => undefined);
  }

  *#resolved(): Steps<{ root: string; markers: string }> {
    const root = yield* this.#opened();
    return { root: root.path, markers: this.#shown(root) };
  }

  /** The path of the marker directory, as it is shown. */
  #shown(root: Directory): string {
    return root.path.endsWith(sep) ? root.path + this.#name : root.path + sep + this.#name;
  }

  *#opened(): Steps<Directory> {
    if (this.#root !== undefined) return this.#root;
    let path = this.#destination;
    try {
      path = yield* step(this.#io.realpath(this.#destination));
      const { O_DIRECTORY, O_NOFOLLOW } = constants;
      let handle: Handle | undefined;
      if (hasDescriptors()) handle = yield* step(this.#io.open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW));
      try {
        const stat = yield* step(handle === undefined ? this.#io.lstat(path) : this.#io.fstat(handle));
        if (!stat.isDirectory()) throw new MarkerFileError("not-a-directory", path, "the destination is no directory");
        this.#root = { path, handle, file: stat };
      } catch (error) {
        if (handle !== undefined) this.#shut(handle);
        throw error;
      }
      return this.#root;
    } catch (error) {
      throw failed(path, error);
    }
  }

  *#legacy(name: string): Steps<string | undefined> {
    const root = yield* this.#opened();
    const segments = name.split("/");
    for (let count = 1; count <= segments.length; count++) {
      const part = segments.slice(0, count).join("/");
      const shown = `${root.path}${sep}${part}`;
      let stat: BigIntStats;
      try {
        stat = yield* step(this.#io.lstat(at(root, part)));
      } catch (error) {
        if (codeOf(error) === "ENOENT") return undefined;
        throw failed(shown, error);
      }
      if (count === segments.length) return shown;
      // Where it leads, a marker may be or not be; it is not for us to look.
      if (stat.isSymbolicLink()) {
        throw new MarkerFileError("link", shown, "a directory on the way is a link, which is not followed");
      }
      if (!stat.isDirectory()) return undefined;
    }
    return undefined;
  }

  /** The marker directory, opened where it is not yet; none where it is missing and is not to be made. */
  *#directory(make: boolean): Steps<(Directory & { published: boolean }) | undefined> {
    if (this.#markers !== undefined) return this.#markers;
    const root = yield* this.#opened();
    const path = this.#shown(root);
    try {
      let found = yield* this.#look(root, path);
      if (found === undefined && make) {
        try {
          yield* step(this.#io.mkdir(at(root, this.#name)));
        } catch (error) {
          if (codeOf(error) !== "EEXIST") throw error;
        }
        found = yield* this.#look(root, path);
        // It was there a moment ago.
        if (found === undefined) throw vanished(path);
      }
      this.#markers = found;
      return found;
    } catch (error) {
      throw failed(path, error);
    }
  }

  *#look(root: Directory, path: string): Steps<(Directory & { published: boolean }) | undefined> {
    const name = at(root, this.#name);
    let handle: Handle | undefined;
    let stat: BigIntStats;
    try {
      if (root.handle === undefined) {
        stat = yield* step(this.#io.lstat(name));
      } else {
        const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
        handle = yield* step(this.#io.open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
        stat = yield* step(this.#io.fstat(handle));
      }
    } catch (error) {
      if (handle !== undefined) this.#shut(handle);
      const code = codeOf(error);
      if (code === "ENOENT") return undefined;
      if (code === "ENOTDIR" || code === "ELOOP" || code === "EMLINK") throw unsafe(path);
      throw error;
    }
    if (!stat.isDirectory()) throw unsafe(path);
    return { path, handle, file: stat, published: false };
  }

  #forget(): void {
    if (this.#markers?.handle !== undefined) this.#shut(this.#markers.handle);
    this.#markers = undefined;
  }

  *#publish(nonce: string, content: Uint8Array): Steps<void> {
    if (content.length > MARKER_BYTES_MAX) {
      const message = `a marker of ${content.length} bytes, expected at most ${MARKER_BYTES_MAX}`;
      throw new MarkerFileError("other", nonce, message);
    }
    const [temporary, name] = [`${nonce}.tmp`, `${nonce}.json`];
    const markers = yield* this.#begun(temporary, name, content);
    const path = `${markers.path}${sep}${name}`;
    // Set before it is known, since a failed publication may have happened.
    markers.published = true;
    try {
      yield* step(this.#io.rename(at(markers, temporary), at(markers, name)));
    } catch (error) {
      if (codeOf(error) === "ENOENT") throw vanished(markers.path);
      // What cannot be removed here, the machine tries once more, and names.
      yield* this.#gone(markers, temporary);
      throw failed(path, error);
    }
  }

  /** The directory that is open, or is there now, with a file of this content in it, which becomes `name`. */
  *#begun(temporary: string, name: string, content: Uint8Array): Steps<Directory & { published: boolean }> {
    for (let wasOpen = this.#markers !== undefined; ; wasOpen = false) {
      const markers = yield* this.#directory(true);
      if (markers === undefined) throw vanished(this.#name);
      try {
        yield* this.#create(markers, temporary, content);
        return markers;
      } catch (error) {
        const code = codeOf(error);
        const isGone = code === "ENOENT" || (wasOpen && code === "ESTALE");
        if (!isGone) throw failed(`${markers.path}${sep}${name}`, error);
        this.#forget();
        // The one that was open may have been removed since; then the one that is there now counts. What was moved
        // away instead is found by the listing that follows.
        if (!wasOpen) throw vanished(markers.path);
      }
    }
  }

  /** Makes a file that is not there yet, with this content; or none. */
  *#create(directory: Directory, name: string, content: Uint8Array): Steps<void> {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const flags = O_WRONLY | O_CREAT | O_EXCL | (O_NOFOLLOW ?? 0);
    const handle = yield* step(this.#io.open(at(directory, name), flags, MARKER_MODE));
    try {
      try {
        let rest = content;
        while (rest.length > 0) {
          const written = yield* step(this.#io.write(handle, rest));
          if (written === 0) throw new MarkerFileError("no-space", directory.path, "the system wrote nothing");
          rest = rest.subarray(written);
        }
      } finally {
        yield* step(this.#io.close(handle));
      }
    } catch (error) {
      if (!(yield* this.#gone(directory, name))) kept.add(error as object);
      throw error;
    }
  }

  /** Removes a file; is it gone now? */
  *#gone(directory: Directory, name: string): Steps<boolean> {
    try {
      yield* step(this.#io.unlink(at(directory, name)));
      return true;
    } catch (error) {
      return codeOf(error) === "ENOENT";
    }
  }

  *#list(): Steps<string[] | undefined> {
    if (this.#markers !== undefined && !this.#markers.published) {
      try {
        yield* this.#checkPlace(this.#markers);
      } catch {
        // Nothing of ours is in the one that was open; what is there now counts.
        this.#forget();
      }
    }
    const markers = yield* this.#directory(false);
    if (markers === undefined) return undefined;
    let names: string[];
    try {
      names = yield* step(this.#io.list(own(markers), markers.file.size, LISTED_MAX));
    } catch (error) {
      throw failed(markers.path, error);
    }
    if (markers.published) yield* this.#checkPlace(markers);
    return names;
  }

  /** Does the destination still lead to the two directories that were found? */
  *#checkPlace(markers: Directory): Steps<void> {
    const root = yield* this.#opened();
    const places = [
      [root, () => this.#io.stat(root.path)],
      [markers, () => this.#io.lstat(at(root, this.#name))],
    ] as const;
    for (const [directory, look] of places) {
      let stat: BigIntStats;
      try {
        stat = yield* step(look());
      } catch (error) {
        const code = codeOf(error);
        if (code === "ENOENT" || code === "ENOTDIR") throw replaced(directory.path);
        throw failed(directory.path, error);
      }
      if (!isSame(stat, directory.file)) throw replaced(directory.path);
    }
  }

  *#read(name: string, limit: number): Steps<MarkerContents> {
    const markers = yield* this.#directory(false);
    if (markers === undefined) return { kind: "absent" };
    const path = `${markers.path}${sep}${name}`;
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
    let handle: Handle;
    try {
      // Where a link cannot be refused on opening, it is looked at before.
      if (O_NOFOLLOW === undefined && !(yield* step(this.#io.lstat(at(markers, name)))).isFile()) {
        return { kind: "not-ordinary" };
      }
      const flags = O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0) | (O_NOCTTY ?? 0);
      handle = yield* step(this.#io.open(at(markers, name), flags));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return { kind: "absent" };
      if (NOT_ORDINARY.includes(codeOf(error))) return { kind: "not-ordinary" };
      throw failed(path, error);
    }
    try {
      return yield* this.#contents(handle, limit);
    } catch (error) {
      throw failed(path, error);
    } finally {
      yield* step(this.#io.close(handle));
    }
  }

  *#contents(handle: Handle, limit: number): Steps<MarkerContents> {
    const stat = yield* step(this.#io.fstat(handle));
    if (!stat.isFile()) return { kind: "not-ordinary" };
    if (stat.size > BigInt(limit)) return { kind: "too-large" };
    // One byte more than there is, so that a file that grew meanwhile is seen; then one more than there may be. Small
    // ones are parts of a buffer that Node keeps.
    const size = Number(stat.size);
    let buffer = Buffer.allocUnsafe(size + 1);
    for (let length = 0; length <= limit; ) {
      if (length === buffer.length) {
        const wider = Buffer.allocUnsafe(limit + 1);
        buffer.copy(wider);
        buffer = wider;
      }
      const more = yield* step(this.#io.read(handle, buffer, length));
      length += more;
      // As much as there was, and no more: asking once again for its end would tell nothing new.
      if (more === 0 || length === size) {
        const sinceMs = Number(stat.mtimeNs / 1_000_000n);
        return { kind: "whole", bytes: buffer.subarray(0, length), sinceMs: sinceMs < 0 ? undefined : sinceMs };
      }
    }
    return { kind: "too-large" };
  }

  *#age(name: string, beside: string): Steps<number | undefined> {
    const markers = yield* this.#directory(false);
    if (markers === undefined) return undefined;
    const path = `${markers.path}${sep}${name}`;
    const fresh = `${markers.path}${sep}${beside}`;
    let then: BigIntStats;
    try {
      then = yield* step(this.#io.lstat(at(markers, name)));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw failed(path, error);
    }
    try {
      // One byte, so that the time is the server's, where there is one.
      yield* this.#create(markers, beside, Uint8Array.of(10));
    } catch (error) {
      throw failed(path, error, leftBy(error) ? fresh : undefined);
    }
    let now: BigIntStats | undefined;
    let wrong: unknown;
    try {
      now = yield* step(this.#io.lstat(at(markers, beside)));
    } catch (error) {
      wrong = error;
    }
    if (!(yield* this.#gone(markers, beside))) {
      throw failed(path, wrong ?? new Error("the file that was made to compare with could not be removed"), fresh);
    }
    if (now === undefined) throw failed(path, wrong);
    return Math.max(0, Number((now.mtimeNs - then.mtimeNs) / 1_000_000n));
  }

  *#remove(name: string): Steps<boolean> {
    const markers = yield* this.#directory(false);
    if (markers === undefined) return false;
    try {
      yield* step(this.#io.unlink(at(markers, name)));
      return true;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return false;
      throw failed(`${markers.path}${sep}${name}`, error);
    }
  }

  *#removeDirectory(): Steps<void> {
    const root = yield* this.#opened();
    try {
      yield* step(this.#io.rmdir(at(root, this.#name)));
    } catch (error) {
      if (!["ENOENT", "ENOTEMPTY", "EEXIST"].includes(codeOf(error))) throw failed(this.#shown(root), error);
    }
  }
}

/** Errors after which a file that was half made could not be removed. */
const kept = new WeakSet<object>();

function leftBy(error: unknown): boolean {
  return typeof error === "object" && error !== null && kept.has(error);
}
