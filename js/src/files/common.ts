// What both entries have of writer leases.

import type { MakeMarkerFiles } from "./types.js";

/** How a store on real files is made. */
export interface NativeWriterLeaseStoreOptions {
  /** The marker directory below each destination: one plain name. All writers of a destination must share it. */
  markerDirectory: string;
  /** Names of markers of older programs, relative to the destination. One that exists refuses an acquisition. */
  legacyMarkers?: readonly string[] | undefined;
  /** What this process is called as a host, where the host name is not what tells hosts apart. */
  identity?: string | undefined;
  /** Other file functions; those of `systemMarkerFiles()` unless given. */
  files?: MakeMarkerFiles | undefined;
}

/** How the file functions of this system are carried out. */
export interface SystemMarkerFilesOptions {
  /** What this process is called as a host. */
  identity?: string | undefined;
  /** Await each system call: for mounts that may take long. All are done at once unless set. */
  asynchronous?: boolean | undefined;
}

export { WriterLeaseError, type WriterLeaseErrorCode } from "./error.js";
export { type MemoryFile, type MemoryMarkerWorld, memoryMarkerFiles } from "./memory.js";
export { writerLeaseStore, type WriterLeaseStoreOptions } from "./store.js";
export {
  type Awaitable,
  type FileCode,
  type MakeMarkerFiles,
  type MarkerContents,
  MarkerFileError,
  type MarkerFiles,
  type NamedRemoval,
  type OwnerRecord,
  type WriterLease,
  type WriterLeaseAcquisition,
  type WriterLeaseOptions,
  type WriterLeaseOwner,
  type WriterLeaseRecovery,
  type WriterLeaseRelease,
  type WriterLeaseStore,
} from "./types.js";
