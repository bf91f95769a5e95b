// Why an operation failed.

import type { FileCode } from "./types.js";

/** The kinds of failure: those of file functions, and those that the machines find themselves. */
export type WriterLeaseErrorCode =
  | FileCode
  | "cancelled"
  | "own-marker-gone"
  | "own-marker-changed"
  | "too-many-names"
  | "invalid-identity"
  | "invalid-nonce"
  | "other-process"
  | "unexpected-outcome";

/** An operation failed. Nothing was granted, and nothing of it is left but what `left` names. */
export class WriterLeaseError extends Error {
  readonly code: WriterLeaseErrorCode;
  /** The step it happened at. */
  readonly step: string;
  /** The path it happened at; empty where none has to do with it. */
  readonly path: string;
  /** The path of an own marker that could not be removed. It is in the way of others until it is. */
  readonly left: string | undefined;

  constructor(facts: {
    code: WriterLeaseErrorCode;
    step: string;
    path: string;
    left?: string | undefined;
    message: string;
    cause?: unknown;
  }) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = "WriterLeaseError";
    this.code = facts.code;
    this.step = facts.step;
    this.path = facts.path;
    this.left = facts.left;
  }
}
