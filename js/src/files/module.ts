// The wasm module of writer leases.

import { bytes } from "../generated/writer-bytes.js";
import { initSync } from "../generated/writer.js";
import { WasmModule } from "../wasm/module.js";

/** @internal */
export const writerModule = new WasmModule("the module of writer leases", ["memory", "writerstore_new"], initSync);

writerModule.provide(bytes);
