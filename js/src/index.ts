// `leasebook`: the lease table, with its wasm module inlined.

import { bytes } from "./generated/table-bytes.js";
import { tableModule } from "./table/module.js";

tableModule.provide(bytes);

export * from "./table/index.js";
