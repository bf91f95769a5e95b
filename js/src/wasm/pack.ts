// Several texts as one, with their lengths: what crosses into the module without an object for each.

/** Texts as one, and the length of each in UTF-16 units. */
export interface Packed {
  readonly text: string;
  readonly lengths: Uint32Array;
}

/** No text at all. */
export const NO_TEXTS: Packed = { text: "", lengths: new Uint32Array(0) };

export function pack(texts: readonly string[]): Packed {
  const lengths = new Uint32Array(texts.length);
  for (let index = 0; index < texts.length; index++) lengths[index] = (texts[index] as string).length;
  return { text: texts.join(""), lengths };
}
