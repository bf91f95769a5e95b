// Bytes of a wasm module as they are inlined: a text of one character for each byte, of an alphabet that gives the most
// frequent bytes the shortest characters. It is nearly as small as the module itself when it is compressed on its way.

/** The bytes of a text; the alphabet has the character of each byte in order. */
export function decoded(alphabet: string, text: string): Uint8Array<ArrayBuffer> {
  const byteOf = new Uint8Array(0x200);
  for (let byte = 0; byte < alphabet.length; byte++) byteOf[alphabet.charCodeAt(byte)] = byte;
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = byteOf[text.charCodeAt(at)] as number;
  return bytes;
}
