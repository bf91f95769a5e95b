// `leasebook/files` where there are no files: the port, its types, and the store in memory.

import type { NativeWriterLeaseStoreOptions, SystemMarkerFilesOptions } from "./common.js";
import { writerLeaseStore } from "./store.js";
import type { MakeMarkerFiles, WriterLeaseStore } from "./types.js";

export * from "./common.js";

/** There are none here: a `TypeError`. */
export function systemMarkerFiles(_options?: SystemMarkerFilesOptions): MakeMarkerFiles {
  throw new TypeError("files: this runtime has no file system; give the store file functions of its own");
}

/** Writer leases on the file functions that are given; without them a `TypeError`. */
export function nativeWriterLeaseStore(options: NativeWriterLeaseStoreOptions): WriterLeaseStore {
  return writerLeaseStore({ ...options, files: options?.files ?? systemMarkerFiles() });
}
