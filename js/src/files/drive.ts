// The loop that carries out what a machine asks for. It decides nothing.

import type { WriterMachine } from "../generated/writer.js";
import { Reader } from "../wasm/module.js";
import { NO_TEXTS, type Packed, pack } from "../wasm/pack.js";
import { WriterLeaseError, type WriterLeaseErrorCode } from "./error.js";
import { writerModule } from "./module.js";
import { type Awaitable, FILE_CODES, type FileCode, MarkerFileError, type MarkerFiles } from "./types.js";

/** The first number of a step that is over. */
const DONE = 100;
const FAILED = 101;
/** The number of an outcome that begins, and of some that need no more. */
const BEGIN = 0;
const ABSENT = 3;
const FINISHED = 14;
const CANCELLED = 15;
const FAILURE = 16;

const NO_BYTES: Uint8Array = new Uint8Array(0);

/** What came of an effect, as it crosses. */
interface Outcome {
  readonly kind: number;
  readonly texts: Packed;
  readonly number: number;
  readonly bytes: Uint8Array;
}

function outcome(kind: number, texts: readonly string[] = [], number = 0, bytes = NO_BYTES): Outcome {
  return { kind, texts: texts.length === 0 ? NO_TEXTS : pack(texts), number, bytes };
}

/** An effect that waits to be carried out. */
interface Effect {
  readonly cleansUp: boolean;
  readonly carryOut: (files: MarkerFiles) => Awaitable<Outcome>;
}

/** Drives a machine to its end, and reads its answer. Without a promise from the file functions it does so at once. */
export async function drive<T>(
  machine: WriterMachine,
  files: MarkerFiles,
  signal: AbortSignal | undefined,
  read: (from: Reader) => T,
): Promise<T> {
  const reader = new Reader(writerModule, machine.place());
  /** What a failure was caused by: the last error of a file function, or the reason of the signal. */
  let cause: unknown;
  let last = outcome(BEGIN);
  for (;;) {
    const { kind, texts, number, bytes } = last;
    const from = reader.begin(machine.next(kind, texts.text, texts.lengths, number, bytes));
    const step = from.number();
    if (step === DONE) return read(from);
    if (step === FAILED) throw failure(from, signal, cause);
    const effect = effects(step, from);
    if (!effect.cleansUp && signal?.aborted) {
      last = outcome(CANCELLED);
      continue;
    }
    try {
      const done = effect.carryOut(files);
      last = isPromise(done) ? await done : done;
    } catch (error) {
      cause = error;
      last = failed(error);
    }
  }
}

function isPromise<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | undefined)?.then === "function";
}

/** Goes on with a value, now where it is there. */
function then<T, U>(value: Awaitable<T>, next: (value: T) => U): Awaitable<U> {
  return isPromise(value) ? value.then(next) : next(value);
}

function effects(step: number, from: Reader): Effect {
  const plain = (carryOut: Effect["carryOut"], cleansUp = false): Effect => ({ cleansUp, carryOut });
  switch (step) {
    case 0:
      return plain((files) =>
        then(files.resolveRoot(), ({ root, markers }) => outcome(1, [shown(root), shown(markers)])),
      );
    case 1: {
      const name = from.text();
      return plain((files) =>
        then(files.legacyExists(name), (path) => (path === undefined ? outcome(ABSENT) : outcome(2, [shown(path)]))),
      );
    }
    case 2:
      return plain((files) => then(files.identity(), ({ host, pid }) => outcome(4, [shown(host)], pid)));
    case 3:
      return plain((files) => outcome(5, [], files.ownPid()), true);
    case 4:
      return plain((files) => then(files.nonce(), (nonce) => outcome(6, [shown(nonce)])));
    case 5: {
      const [nonce, content] = [from.text(), from.text()];
      return plain((files) => then(files.publish(nonce, content), () => outcome(FINISHED)));
    }
    case 6:
      return plain((files) =>
        then(files.list(), (names) => (names === undefined ? outcome(ABSENT) : outcome(7, names.map(shown)))),
      );
    case 7: {
      const [name, limit, cleansUp] = [from.text(), from.number(), from.flag()];
      return plain((files) => then(files.read(name, limit), contents), cleansUp);
    }
    case 8: {
      const pid = from.number();
      return plain((files) => then(files.isAlive(pid), (alive) => outcome(alive === false ? 12 : 11)));
    }
    case 9: {
      const [name, beside] = [from.text(), from.text()];
      return plain((files) =>
        then(files.ageMs(name, beside), (ms) => (ms === undefined ? outcome(ABSENT) : outcome(13, [], ms))),
      );
    }
    case 10: {
      const [name, cleansUp] = [from.text(), from.flag()];
      return plain((files) => then(files.remove(name), (gone) => outcome(gone ? FINISHED : ABSENT)), cleansUp);
    }
    case 11:
      return plain((files) => then(files.removeDirectoryIfEmpty(), () => outcome(FINISHED)), true);
    default:
      return plain(() => outcome(FINISHED));
  }
}

function contents(found: Awaited<ReturnType<MarkerFiles["read"]>>): Outcome {
  switch (found.kind) {
    case "whole":
      return outcome(8, [], found.sinceMs ?? -1, found.bytes);
    case "absent":
      return outcome(ABSENT);
    case "not-ordinary":
      return outcome(9);
    default:
      return outcome(10);
  }
}

/** Whatever file functions of others answer, it crosses as a text. */
function shown(text: string): string {
  return String(text);
}

/** What file functions throw that is no error of theirs is one that nobody foresaw. */
function failed(error: unknown): Outcome {
  const known = error instanceof MarkerFileError;
  const code: FileCode = known ? error.code : "other";
  const detail = error instanceof Error ? error.message : String(error);
  return outcome(FAILURE, [known ? error.path : "", detail], FILE_CODES.indexOf(code));
}

function failure(from: Reader, signal: AbortSignal | undefined, cause: unknown): WriterLeaseError {
  const code = from.text() as WriterLeaseErrorCode;
  const [step, path, said, left, message] = [from.text(), from.text(), from.text(), from.maybeText(), from.text()];
  const found = code === "cancelled" ? signal?.reason : cause;
  return new WriterLeaseError({ code, step, path, left, message, cause: found ?? (said === "" ? undefined : said) });
}
