// What this process is called as a host: the same as every other runtime of Leasebook says.

import { readFileSync, readlinkSync } from "node:fs";
import { hostname, platform } from "node:os";
import { MarkerFileError } from "./types.js";

/** The initial namespace of process ids, which Linux numbers so and no other. */
const INITIAL_NAMESPACE = "pid:[4026531836]";
/** Always foreign, because the namespace cannot be read. */
const UNKNOWN = ";pidns=?";

let known: string | undefined;

/**
 * The host name; outside the initial namespace of process ids with the namespace and the boot.
 *
 * It is found out once in the life of a process: a host that is given another name meanwhile must not make a process
 * take its own markers for another's.
 */
export function identity(): string {
  return (known ??= foundOut());
}

function foundOut(): string {
  const host = hostname();
  if (host === "") {
    throw new MarkerFileError("other", "", "the host has no name; set one, or give the store an identity");
  }
  return host + namespace();
}

function namespace(): string {
  const system = platform();
  if (system !== "linux" && system !== "android") return "";
  const own = told(() => readlinkSync("/proc/self/ns/pid"));
  if (own === INITIAL_NAMESPACE) return "";
  return suffix(own, told(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")));
}

/** What is added to the host's name outside the initial namespace. */
export function suffix(link: string | undefined, boot: string | undefined): string {
  const id = /^pid:\[([0-9]+)\]$/.exec(link ?? "")?.[1];
  const digits = /^[0-9a-fA-F]{8}/.exec(boot ?? "")?.[0];
  return id === undefined || digits === undefined ? UNKNOWN : `;pidns=${id}@${digits}`;
}

function told(ask: () => string): string | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}
