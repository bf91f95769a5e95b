// The store: machines of the core, driven over file functions.

import { WriterStore, type WriterMachine } from "../generated/writer.js";
import { Reader } from "../wasm/module.js";
import { pack } from "../wasm/pack.js";
import { count, flag, options as object, signal, text, wrong } from "../table/check.js";
import { drive } from "./drive.js";
import { writerModule } from "./module.js";
import type {
  MakeMarkerFiles,
  MarkerFiles,
  NamedRemoval,
  OwnerRecord,
  WriterLease,
  WriterLeaseAcquisition,
  WriterLeaseOptions,
  WriterLeaseOwner,
  WriterLeaseRecovery,
  WriterLeaseRelease,
  WriterLeaseStore,
} from "./types.js";

/** How a store is made. */
export interface WriterLeaseStoreOptions {
  /** The marker directory below each destination: one plain name. All writers of a destination must share it. */
  markerDirectory: string;
  /** Names of markers of older programs, relative to the destination. One that exists refuses an acquisition. */
  legacyMarkers?: readonly string[] | undefined;
  /** The file functions. */
  files: MakeMarkerFiles;
}

/** The most legacy markers of a layout, as the core has it; of more, one too many crosses, so that the core refuses. */
const LEGACY_NAMES_MAX = 64;

const DISPOSE: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for("Symbol.asyncDispose") as typeof Symbol.asyncDispose);

/** A warning, where the runtime shows any; nothing else tells that a lease was forgotten. */
function warn(path: string): void {
  const message = `the writer lease ${path} was never released; its marker stays until this process ends`;
  const host = (globalThis as { process?: { emitWarning?: (message: string, type: string) => void } }).process;
  if (host?.emitWarning !== undefined) host.emitWarning(message, "LeasebookWarning");
  else console.warn(message);
}

const forgotten = new FinalizationRegistry<string>(warn);

/** A store over any file functions. No I/O is done before an operation. */
export function writerLeaseStore(options: WriterLeaseStoreOptions): WriterLeaseStore {
  return new Store(options);
}

class Store implements WriterLeaseStore {
  readonly #store: WriterStore;
  readonly #reader: Reader;
  readonly #directory: string;
  readonly #make: MakeMarkerFiles;

  constructor(options: WriterLeaseStoreOptions) {
    if (typeof options !== "object" || options === null) throw wrong("options", "an object", options);
    this.#directory = text("markerDirectory", options.markerDirectory);
    const legacy = options.legacyMarkers ?? [];
    if (!Array.isArray(legacy)) throw wrong("legacyMarkers", "a list of strings", legacy);
    const names = legacy.slice(0, LEGACY_NAMES_MAX + 1).map((name, n) => text(`legacyMarkers[${n}]`, name));
    if (typeof options.files !== "function") throw wrong("files", "a function", options.files);
    this.#make = options.files;
    writerModule.ready();
    const packed = pack([this.#directory, ...names]);
    this.#store = new WriterStore(packed.text, packed.lengths);
    this.#reader = new Reader(writerModule, this.#store.place());
    const from = this.#reader.begin(3);
    if (!from.flag()) throw new TypeError(`${from.text()}: ${from.text()}`);
  }

  async acquire(destination: string, options?: WriterLeaseOptions): Promise<WriterLeaseAcquisition> {
    const [files, signal] = [this.#files(destination), signalOf(options)];
    const machine = this.#store.acquire() as WriterMachine;
    let kept = false;
    try {
      return await drive(machine, files, signal, (from): WriterLeaseAcquisition => {
        switch (from.number()) {
          case 0: {
            const [path, owner] = [from.text(), ownerRecord(from)];
            kept = machine.release();
            return { status: "acquired", lease: new Lease(machine, files, path, owner) };
          }
          case 1:
            return { status: "busy", owners: owners(from) };
          default: {
            const legacy = from.text();
            return { status: "legacy", path: from.text(), legacy };
          }
        }
      });
    } finally {
      if (!kept) {
        machine.free();
        files.close();
      }
    }
  }

  async inspect(destination: string, options?: WriterLeaseOptions): Promise<WriterLeaseOwner[]> {
    const [files, signal] = [this.#files(destination), signalOf(options)];
    return this.#run(this.#store.inspect(), files, signal, owners);
  }

  async recover(
    destination: string,
    options?: WriterLeaseOptions & { readonly apply?: boolean | undefined },
  ): Promise<WriterLeaseRecovery> {
    const [files, signal] = [this.#files(destination), signalOf(options)];
    const apply = flag("apply", options?.apply);
    return this.#run(this.#store.recover(apply), files, signal, (from) => ({
      removed: owners(from),
      kept: owners(from),
      tidied: from.list(() => from.text()),
      untidied: from.list(() => ({ name: from.text(), detail: from.text() })),
    }));
  }

  async removeNamed(
    destination: string,
    nonce: string,
    said: { readonly host: string; readonly pid: number } | undefined,
  ): Promise<NamedRemoval> {
    const files = this.#files(destination);
    text("nonce", nonce);
    const host = said === undefined ? undefined : text("said.host", object(said).host);
    const pid = said === undefined ? 0 : count("said.pid", object(said).pid);
    // What is no process id is that of no marker, and must not be taken for another on its way.
    const machine = this.#store.remove_named(nonce, host, pid > 0xffff_ffff ? 0 : pid);
    return this.#run(machine, files, undefined, (from): NamedRemoval => {
      const status = (["removed", "absent", "different"] as const)[from.number()] as NamedRemoval["status"];
      if (status === "absent") return { status };
      return from.flag() ? { status, owner: ownerRecord(from) } : { status };
    });
  }

  left(): string[] {
    const from = this.#reader.begin(this.#store.left());
    return from.list(() => from.text());
  }

  async #run<T>(
    machine: WriterMachine,
    files: MarkerFiles,
    signal: AbortSignal | undefined,
    read: (from: Reader) => T,
  ): Promise<T> {
    try {
      return await drive(machine, files, signal, read);
    } finally {
      machine.free();
      files.close();
    }
  }

  #files(destination: string): MarkerFiles {
    if (typeof destination !== "string") throw wrong("destination", "a string", destination);
    return this.#make(destination, this.#directory);
  }
}

class Lease implements WriterLease {
  readonly path: string;
  readonly owner: OwnerRecord;
  readonly #machine: WriterMachine;
  readonly #files: MarkerFiles;
  #running: Promise<WriterLeaseRelease> | undefined;

  constructor(machine: WriterMachine, files: MarkerFiles, path: string, owner: OwnerRecord) {
    this.#machine = machine;
    this.#files = files;
    this.path = path;
    this.owner = owner;
    forgotten.register(this, path, this);
  }

  release(): Promise<WriterLeaseRelease> {
    this.#running ??= this.#release();
    return this.#running;
  }

  async [DISPOSE](): Promise<void> {
    try {
      await this.release();
    } catch (error) {
      // Nobody has the lease any more; the store tries to remove its marker at its next operation.
      this.#machine.leave();
      throw error;
    }
  }

  async #release(): Promise<WriterLeaseRelease> {
    try {
      const lost = await drive(this.#machine, this.#files, undefined, (from) => from.flag());
      forgotten.unregister(this);
      this.#machine.free();
      this.#files.close();
      return { status: lost ? "lost" : "released" };
    } catch (error) {
      // Whoever calls again tries again.
      this.#running = undefined;
      throw error;
    }
  }
}

function signalOf(options: WriterLeaseOptions | undefined): AbortSignal | undefined {
  return signal(object(options).signal);
}

function ownerRecord(from: Reader): OwnerRecord {
  return { pid: from.number(), host: from.text(), nonce: from.text() };
}

function owners(from: Reader): WriterLeaseOwner[] {
  return from.list(() => {
    const [name, path] = [from.text(), from.text()];
    const state = from.text() as WriterLeaseOwner["state"];
    const owner = from.flag() ? ownerRecord(from) : undefined;
    const [sinceMs, detail] = [from.maybe(), from.maybeText()];
    return {
      name,
      path,
      state,
      ...(owner === undefined ? {} : { owner }),
      ...(sinceMs === undefined ? {} : { sinceMs }),
      ...(detail === undefined ? {} : { detail }),
    };
  });
}
