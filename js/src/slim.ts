// `leasebook/slim`: the lease table for hosts that bring the bytes of `leasebook/leasebook.wasm` themselves.

import { tableModule } from "./table/module.js";
import type { WasmSource } from "./wasm/module.js";

export type { WasmSource };
export * from "./table/index.js";

/**
 * Makes the one instance of the wasm module, from its bytes or from a compiled module. Call it once, before the first
 * table; later calls change nothing. What is not the module of this version is a `TypeError`.
 */
export function initialize(source: WasmSource): void {
  tableModule.initialize(source);
}
