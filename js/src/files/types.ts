/// <reference lib="esnext.disposable" preserve="true" />
// Writer leases: what is asked and what is answered, and the port to file functions.

/** What a marker says of its writer. */
export interface OwnerRecord {
  readonly pid: number;
  readonly host: string;
  readonly nonce: string;
}

/** One marker, as it was found. */
export interface WriterLeaseOwner {
  /** The name of its file. */
  readonly name: string;
  /** Its path, as it is shown. */
  readonly path: string;
  /**
   * Whose it is: of this host and alive or not ours to ask about; of this host and there is no such process; of another
   * host; or it does not say.
   */
  readonly state: "active" | "stale" | "foreign" | "unrecognized";
  /** What it says; absent where it is not recognized. */
  readonly owner?: OwnerRecord;
  /** When it was last changed, in milliseconds since 1970 by the clock of its file system, where that is known. */
  readonly sinceMs?: number;
  /** For a person: why it is not recognized, or why it could not be removed. */
  readonly detail?: string;
}

/** How an operation is ended early. */
export interface WriterLeaseOptions {
  readonly signal?: AbortSignal | undefined;
}

/** What came of an attempt to acquire. */
export type WriterLeaseAcquisition =
  | { readonly status: "acquired"; readonly lease: WriterLease }
  | { readonly status: "busy"; readonly owners: WriterLeaseOwner[] }
  | {
      readonly status: "legacy";
      /** Its path. */
      readonly path: string;
      /** Its name, as the store was given it. */
      readonly legacy: string;
    };

/** What recovery did. */
export interface WriterLeaseRecovery {
  /** The stale markers that were removed; none without `apply`. */
  readonly removed: WriterLeaseOwner[];
  /** The other markers. */
  readonly kept: WriterLeaseOwner[];
  /** The names of half-made markers that were removed. */
  readonly tidied: string[];
  /** The half-made markers that stay because something failed; they are in nobody's way. */
  readonly untidied: { readonly name: string; readonly detail: string }[];
}

/** What came of a release: the marker is removed; or it was gone already, so that others could write meanwhile. */
export interface WriterLeaseRelease {
  readonly status: "released" | "lost";
}

/** What came of the removal of one named marker. */
export type NamedRemoval =
  | { readonly status: "removed" | "different"; readonly owner?: OwnerRecord }
  | { readonly status: "absent" };

/** A lease that is held until it is released. */
export interface WriterLease extends AsyncDisposable {
  /** The path of its marker, as it is shown. */
  readonly path: string;
  /** What its marker says. */
  readonly owner: OwnerRecord;
  /**
   * Releases the lease. Calls at the same time share one completion, and later ones answer the same; after a failure a
   * later call tries again. It is not ended by the signal of the acquisition.
   */
  release(): Promise<WriterLeaseRelease>;
}

/** Writer leases on any destination, all with one layout. */
export interface WriterLeaseStore {
  /** Tries once to become the writer of an existing directory. It neither waits nor tries again. */
  acquire(destination: string, options?: WriterLeaseOptions): Promise<WriterLeaseAcquisition>;
  /** Looks who is there. It writes nothing. */
  inspect(destination: string, options?: WriterLeaseOptions): Promise<WriterLeaseOwner[]>;
  /** Finds the markers whose processes are gone, and removes them where `apply` is set. */
  recover(
    destination: string,
    options?: WriterLeaseOptions & { readonly apply?: boolean | undefined },
  ): Promise<WriterLeaseRecovery>;
  /**
   * Removes one marker, of whatever state, for an operator. What it says must be repeated, `undefined` for one that is
   * not recognized; one that says something else is kept.
   */
  removeNamed(
    destination: string,
    nonce: string,
    said: { readonly host: string; readonly pid: number } | undefined,
  ): Promise<NamedRemoval>;
  /**
   * The paths of own markers that could not be removed; the next acquire of their destination, or recover with apply,
   * tries them first.
   */
  left(): string[];
}

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

/** The kinds of failure that file functions tell apart; the place of each is its number in the wasm module. */
export const FILE_CODES = [
  "not-found",
  "not-a-directory",
  "permission-denied",
  "read-only",
  "no-space",
  "too-many-open-files",
  "name-too-long",
  "link",
  "already-exists",
  "input-output",
  "directory-vanished",
  "marker-directory-unsafe",
  "other",
] as const;

export type FileCode = (typeof FILE_CODES)[number];

/** What a file function throws: why it could not be done. */
export class MarkerFileError extends Error {
  readonly code: FileCode;
  /** The path it happened at. */
  readonly path: string;

  constructor(code: FileCode, path: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "MarkerFileError";
    this.code = code;
    this.path = path;
  }
}

/** What was found under the name of a marker. */
export type MarkerContents =
  | {
      readonly kind: "whole";
      readonly bytes: Uint8Array;
      /** When it was last changed, in milliseconds since 1970. */
      readonly sinceMs?: number | undefined;
    }
  | { readonly kind: "absent" | "too-large" | "not-ordinary" };

/**
 * What the machines of a writer lease ask of a file system, for one operation or one lease on one destination.
 *
 * Each call is one step, which either is done as a whole or leaves nothing; a call that has begun is always awaited.
 * A failure is a {@link MarkerFileError}. An acquired lease keeps the one that acquired it, so that its release finds
 * the marker wherever the destination has moved.
 */
export interface MarkerFiles {
  /** The physical root of the destination, an existing directory, and the path of the marker directory below it. */
  resolveRoot(): Awaitable<{ readonly root: string; readonly markers: string }>;
  /** Where something of this name is below the root; a link is something and is not followed. */
  legacyExists(name: string): Awaitable<string | undefined>;
  /** What this process is called as a host, and its id. */
  identity(): Awaitable<{ readonly host: string; readonly pid: number }>;
  /** The id of this process alone, now. */
  ownPid(): number;
  /** 128 fresh random bits as 32 lower-case hexadecimal digits. */
  nonce(): Awaitable<string>;
  /** Opens the marker directory anew, made where it is missing, and in it `<nonce>.json` with this content. */
  publish(nonce: string, content: string): Awaitable<void>;
  /** Every name in the marker directory; `undefined` where there is none. */
  list(): Awaitable<string[] | undefined>;
  /** Reads a file of at most `limit` bytes, never blocking, following no link. */
  read(name: string, limit: number): Awaitable<MarkerContents>;
  /** Is there a process of this id? Only the system's "no such process" is `false`. */
  isAlive(pid: number): Awaitable<boolean>;
  /** How much older a file is than one written now as `beside`; `undefined` where it is gone. */
  ageMs(name: string, beside: string): Awaitable<number | undefined>;
  /** Removes a file; `false` where it was gone already. */
  remove(name: string): Awaitable<boolean>;
  /** Removes the marker directory if it is empty. What comes of it changes nothing. */
  removeDirectoryIfEmpty(): Awaitable<void>;
  /** Gives back what it holds: an operation or a lease is over. */
  close(): void;
}

/** Makes the file functions of one operation. It does no I/O. */
export type MakeMarkerFiles = (destination: string, markerDirectory: string) => MarkerFiles;
