// A wasm module, instantiated once when it is first needed, and answers read in its memory.

/**
 * What makes the module: its bytes in an `ArrayBuffer` or a view, or a compiled `WebAssembly.Module`, for which there
 * is no type outside the library of browsers. Anything else is a `TypeError`.
 */
export type WasmSource = object;

/** In place of a length: the text that was asked with. */
const AS_ASKED = -1;

const decoder = new TextDecoder("utf-8");

/** What makes an instance of a compiled module: the `initSync` of its JavaScript. */
type Instantiate = (source: { module: WebAssembly.Module }) => unknown;

/**
 * One of our two modules.
 *
 * @internal
 */
export class WasmModule {
  readonly #file: string;
  readonly #expected: readonly string[];
  readonly #instantiate: Instantiate;
  #provider: (() => WasmSource) | undefined;
  #memory: WebAssembly.Memory | undefined;
  /** The memory, as it was when it was looked at last. */
  numbers = new Float64Array(0);
  words = new Uint32Array(0);
  bytes = new Uint8Array(0);

  /** `expected`: exports by which the module is told from others. */
  constructor(file: string, expected: readonly string[], instantiate: Instantiate) {
    this.#file = file;
    this.#expected = expected;
    this.#instantiate = instantiate;
  }

  /** Says where the module comes from when it is first needed. */
  provide(source: () => WasmSource): void {
    this.#provider ??= source;
  }

  /** Makes the instance, where there is none yet. */
  initialize(source: WasmSource): void {
    if (this.#memory !== undefined) return;
    const module = this.#compiled(source);
    const names = new Set(WebAssembly.Module.exports(module).map((one) => one.name));
    if (!this.#expected.every((name) => names.has(name))) {
      throw new TypeError(`wasm: expected ${this.#file} of the same version; found another module`);
    }
    try {
      this.#memory = (this.#instantiate({ module }) as { memory: WebAssembly.Memory }).memory;
    } catch (cause) {
      throw new TypeError(`wasm: expected ${this.#file} of the same version; found another module`, { cause });
    }
  }

  /** Makes sure that there is an instance. */
  ready(): void {
    if (this.#memory !== undefined) return;
    if (this.#provider === undefined) {
      throw new TypeError("leasebook/slim: call `initialize` with the wasm bytes first");
    }
    this.initialize(this.#provider());
  }

  /** Looks at the memory anew where it has grown. */
  look(): void {
    // What grew has left its old views empty, which is told faster than which memory they are of.
    if (this.numbers.length > 0) return;
    const { buffer } = this.#memory as WebAssembly.Memory;
    this.numbers = new Float64Array(buffer);
    this.words = new Uint32Array(buffer);
    this.bytes = new Uint8Array(buffer);
  }

  #compiled(source: WasmSource): WebAssembly.Module {
    if (source instanceof WebAssembly.Module) return source;
    if (!(source instanceof ArrayBuffer) && !ArrayBuffer.isView(source)) {
      throw new TypeError(`wasm: expected bytes or a WebAssembly.Module; found ${typeof source}`);
    }
    try {
      return new WebAssembly.Module(source as BufferSource);
    } catch (cause) {
      throw new TypeError(`wasm: expected the bytes of ${this.#file}; found no wasm module`, { cause });
    }
  }
}

/**
 * Reads one answer: its numbers in order, and its texts. One reader serves a handle, one answer after the other.
 *
 * @internal
 */
export class Reader {
  readonly #module: WasmModule;
  /** Where the place of answers stands, in words. */
  readonly #place: number;
  #at = 0;
  #end = 0;
  #text: string | undefined;
  #units = 0;

  constructor(module: WasmModule, place: number) {
    this.#module = module;
    this.#place = place >>> 2;
  }

  /** Begins with an answer of so many numbers. */
  begin(length: number): this {
    this.#module.look();
    this.#at = (this.#module.words[this.#place] as number) >>> 3;
    this.#end = this.#at + length;
    this.#text = undefined;
    this.#units = 0;
    return this;
  }

  number(): number {
    if (this.#at >= this.#end) throw new RangeError("the wasm module answered less than was expected");
    return this.#module.numbers[this.#at++] as number;
  }

  /** The next number, which stays the next. */
  peek(): number {
    return this.#module.numbers[this.#at] as number;
  }

  flag(): boolean {
    return this.number() === 1;
  }

  /** A number; none where it is below zero. */
  maybe(): number | undefined {
    const number = this.number();
    return number < 0 ? undefined : number;
  }

  text(): string {
    return this.#slice(this.number());
  }

  maybeText(): string | undefined {
    const length = this.number();
    return length < 0 ? undefined : this.#slice(length);
  }

  /** A text; `asked` where it is that. */
  textOr(asked: string): string {
    const length = this.number();
    return length === AS_ASKED ? asked : this.#slice(length);
  }

  list<T>(one: (index: number) => T): T[] {
    const length = this.number();
    const list = new Array<T>(length);
    for (let index = 0; index < length; index++) list[index] = one(index);
    return list;
  }

  #slice(length: number): string {
    this.#text ??= this.#decoded();
    const from = this.#units;
    this.#units += length;
    return this.#text.slice(from, this.#units);
  }

  #decoded(): string {
    const { words, bytes } = this.#module;
    const from = words[this.#place + 1] as number;
    return decoder.decode(bytes.subarray(from, from + (words[this.#place + 2] as number)));
  }
}
