// What is no answer of a table.

/** Why a table cannot be made of records. Nothing is restored then. */
export class RestoreError extends Error {
  /** The key of the record at fault: a generation, a waiter id, a token; empty where it is all of them together. */
  readonly record: string;
  /** What was expected of it. */
  readonly expected: string;

  constructor(record: string, expected: string) {
    super(`record ${JSON.stringify(record)}: expected ${expected}`);
    this.name = "RestoreError";
    this.record = record;
    this.expected = expected;
  }
}

/** The module failed in the middle of an operation. What the table knew is lost; it answers nothing any more. */
export class PoisonedError extends Error {
  constructor(cause: unknown) {
    super("the lease table is poisoned: an operation of it failed half-way", { cause });
    this.name = "PoisonedError";
  }
}
