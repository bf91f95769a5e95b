// Writer leases on files: beside a lock file library, and beside the system calls that the protocol is made of.

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { nativeWriterLeaseStore } from "leasebook/files";
import { inTurns } from "./measure.mjs";
import { beside } from "./report.mjs";

const MARKERS = ".writers";
/** The part of what `proper-lockfile` takes that is aimed at. */
const LOCKFILE_MAX = 1 / 3;

export async function writer({ turns, each }, peers, folder) {
  const lockfile = createRequire(peers)("proper-lockfile");
  const archive = join(folder, "archive");
  const file = join(folder, "file");
  fs.mkdirSync(archive);
  fs.writeFileSync(file, "");

  const leases = nativeWriterLeaseStore({ markerDirectory: MARKERS });
  const ours = async (count) => {
    for (let n = 0; n < count; n++) {
      const got = await leases.acquire(archive);
      if (got.status !== "acquired") throw new Error(got.status);
      await got.lease.release();
    }
  };
  const locked = async (count) => {
    for (let n = 0; n < count; n++) await (await lockfile.lock(file))();
  };
  const lockedAtOnce = (count) => {
    for (let n = 0; n < count; n++) lockfile.lockSync(file)();
  };
  const bare = (count) => {
    for (let n = 0; n < count; n++) calls(archive);
  };
  // Leases first, so that the marker directory is there for the bare calls, too.
  const sides = await inTurns(turns, each, ours, locked, lockedAtOnce, bare);
  if (fs.readdirSync(join(archive, MARKERS)).length !== 0) throw new Error("a marker was left");
  const what = "writer lease, acquire + release";
  const [pair, awaited, atOnce, systemCalls] = sides;
  return [
    beside(what, pair, "proper-lockfile, lock + unlock", awaited, LOCKFILE_MAX),
    beside(what, pair, "proper-lockfile, lockSync + unlock", atOnce),
    beside(what, pair, "the system calls that it must make, bare", systemCalls),
  ];
}

/** The calls of one pair by the functions of Node, and nothing between them. */
function calls(destination) {
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = fs.constants;
  const O_PATH = 0o10000000;
  const real = fs.realpathSync.native(destination);
  const root = fs.openSync(real, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  const below = (folder, name) => `/proc/self/fd/${folder}/${name}`;
  const markers = fs.openSync(below(root, MARKERS), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  fs.readdirSync(below(markers, "."));
  const nonce = randomBytes(16).toString("hex");
  const [made, name] = [below(markers, `${nonce}.tmp`), below(markers, `${nonce}.json`)];
  const file = fs.openSync(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
  fs.writeSync(file, `{"version":1,"pid":${process.pid},"host":"build-7","nonce":"${nonce}"}\n`);
  fs.closeSync(file);
  fs.renameSync(made, name);
  fs.readdirSync(below(markers, "."));
  fs.lstatSync(below(root, MARKERS));
  fs.statSync(real);
  // Read to confirm it; and, once it is held, to release it.
  for (let time = 0; time < 2; time++) {
    const own = fs.openSync(name, O_RDONLY | O_NOFOLLOW);
    fs.readSync(own, new Uint8Array(4097), 0, 4097, null);
    fs.closeSync(own);
  }
  fs.unlinkSync(name);
  fs.closeSync(markers);
  fs.closeSync(root);
}
