// Marker files in memory: for the tests of hosts, which then need no disk and no processes.

import { MarkerFileError, type MarkerContents, type MakeMarkerFiles, type MarkerFiles } from "./types.js";

/** A world of destinations that stores share. */
export interface MemoryMarkerWorld {
  /** The destinations that exist; one that does not cannot be acquired. Everything does, unless this is given. */
  readonly destinations?: ReadonlySet<string> | undefined;
  /** The legacy markers that exist, as `<destination>/<name>`. */
  readonly legacy?: ReadonlySet<string> | undefined;
  /** What the process of the store is; process 1 of the host `memory` unless given. */
  readonly identity?: { readonly host: string; readonly pid: number } | undefined;
  /** Which other processes of that host live; all of them unless given. */
  readonly alive?: ((pid: number) => boolean) | undefined;
  /** The files, by path: `<destination>/<marker directory>/<name>`. Give the same to stores that share them. */
  readonly files?: Map<string, MemoryFile> | undefined;
}

/** A file in memory. */
export interface MemoryFile {
  readonly content: string;
  /** When it was made, in milliseconds since 1970. */
  readonly sinceMs: number;
}

/** File functions on a map. What two stores are given the same map, they share. */
export function memoryMarkerFiles(world: MemoryMarkerWorld = {}): MakeMarkerFiles {
  const files = world.files ?? new Map<string, MemoryFile>();
  return (destination, markerDirectory) => new MemoryFiles(world, files, destination, markerDirectory);
}

class MemoryFiles implements MarkerFiles {
  readonly #world: MemoryMarkerWorld;
  readonly #files: Map<string, MemoryFile>;
  readonly #root: string;
  readonly #markers: string;

  constructor(world: MemoryMarkerWorld, files: Map<string, MemoryFile>, destination: string, markerDirectory: string) {
    this.#world = world;
    this.#files = files;
    this.#root = destination;
    this.#markers = `${destination}/${markerDirectory}`;
  }

  resolveRoot(): { root: string; markers: string } {
    if (this.#world.destinations?.has(this.#root) === false) {
      throw new MarkerFileError("not-found", this.#root, "there is no such destination in memory");
    }
    return { root: this.#root, markers: this.#markers };
  }

  legacyExists(name: string): string | undefined {
    const path = `${this.#root}/${name}`;
    return this.#world.legacy?.has(path) === true ? path : undefined;
  }

  identity(): { host: string; pid: number } {
    return this.#world.identity ?? { host: "memory", pid: 1 };
  }

  ownPid(): number {
    return this.identity().pid;
  }

  nonce(): string {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  publish(nonce: string, content: string): void {
    this.#files.set(this.#path(`${nonce}.json`), { content, sinceMs: Date.now() });
  }

  list(): string[] | undefined {
    const prefix = `${this.#markers}/`;
    const names = [...this.#files.keys()].filter((path) => path.startsWith(prefix));
    return names.length === 0 ? undefined : names.map((path) => path.slice(prefix.length));
  }

  read(name: string, limit: number): MarkerContents {
    const file = this.#files.get(this.#path(name));
    if (file === undefined) return { kind: "absent" };
    const bytes = new TextEncoder().encode(file.content);
    return bytes.length > limit ? { kind: "too-large" } : { kind: "whole", bytes, sinceMs: file.sinceMs };
  }

  isAlive(pid: number): boolean {
    return pid === this.ownPid() || (this.#world.alive?.(pid) ?? true);
  }

  ageMs(name: string): number | undefined {
    const file = this.#files.get(this.#path(name));
    return file === undefined ? undefined : Math.max(0, Date.now() - file.sinceMs);
  }

  remove(name: string): boolean {
    return this.#files.delete(this.#path(name));
  }

  removeDirectoryIfEmpty(): void {
    // A directory in memory is there as long as something is in it.
  }

  close(): void {
    // Nothing is open.
  }

  #path(name: string): string {
    return `${this.#markers}/${name}`;
  }
}
