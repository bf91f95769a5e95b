// The wasm module of tables.

import { initSync } from "../generated/table.js";
import { WasmModule } from "../wasm/module.js";

/** @internal */
export const tableModule = new WasmModule("leasebook/leasebook.wasm", ["memory", "book_new", "book_acquire"], initSync);
