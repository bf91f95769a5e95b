// A text that stays in the module between calls: it is written there when it is another than the last one.

import type { WasmModule } from "./module.js";

/** Room for a usual holder or path, in bytes; of longer ones there is more when they come. */
const ROOM_BYTES = 512;
/** The most bytes of UTF-8 that one UTF-16 unit takes. */
const UNIT_BYTES_MAX = 3;

const encoder = new TextEncoder();

/** @internal */
export class AskedText {
  readonly #module: WasmModule;
  readonly #room: (bytes: number) => number;
  #place = 0;
  #capacity = 0;
  #last = "";
  #length = 0;

  /** `room` makes room in the module, and answers where it is. */
  constructor(module: WasmModule, room: (bytes: number) => number) {
    this.#module = module;
    this.#room = room;
  }

  /** Sees to it that this text is there, and answers how many bytes it has. */
  put(text: string): number {
    if (text !== this.#last) this.#write(text);
    return this.#length;
  }

  #write(text: string): void {
    // Until it is written, nothing is there.
    this.#last = "";
    this.#length = 0;
    if (text.length * UNIT_BYTES_MAX > this.#capacity) {
      const capacity = Math.max(ROOM_BYTES, text.length * UNIT_BYTES_MAX);
      this.#place = this.#room(capacity) >>> 0;
      this.#capacity = capacity;
    }
    this.#module.look();
    const { bytes } = this.#module;
    const place = this.#place;
    let at = 0;
    for (; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit > 0x7f) break;
      bytes[place + at] = unit;
    }
    this.#length = at;
    if (at < text.length) {
      const rest = bytes.subarray(place + at, place + this.#capacity);
      this.#length += encoder.encodeInto(text.slice(at), rest).written;
    }
    this.#last = text;
  }
}
