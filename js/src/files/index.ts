// `leasebook/files` where there are files: Node, and what is like it.

import { flag, options as object, text } from "../table/check.js";
import type { NativeWriterLeaseStoreOptions, SystemMarkerFilesOptions } from "./common.js";
import { asynchronous, synchronous } from "./io.js";
import { writerLeaseStore } from "./store.js";
import { SystemFiles } from "./system.js";
import type { MakeMarkerFiles, WriterLeaseStore } from "./types.js";

export * from "./common.js";

/** The file functions of this system. */
export function systemMarkerFiles(options?: SystemMarkerFilesOptions): MakeMarkerFiles {
  const given = object(options);
  const io = flag("asynchronous", given.asynchronous) ? asynchronous : synchronous;
  const identity = given.identity === undefined ? undefined : text("identity", given.identity);
  return (destination, markerDirectory) => new SystemFiles(io, destination, markerDirectory, identity);
}

/** Writer leases on the files of this machine. No I/O is done before an operation. */
export function nativeWriterLeaseStore(options: NativeWriterLeaseStoreOptions): WriterLeaseStore {
  const files = options?.files ?? systemMarkerFiles({ identity: options?.identity });
  return writerLeaseStore({ ...options, files });
}
