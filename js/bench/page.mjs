// What the benchmark's page measures. It is bundled, as an application would be.

import { LeaseTable } from "leasebook";
import { inTurns, path, paths } from "./measure.mjs";

const STANDING = 10_000;
const ASKED = 10_000;

globalThis.measured = ({ turns, each }) => {
  const asked = paths(STANDING, ASKED);
  const at = (n) => asked[n % ASKED];
  const leases = new LeaseTable();
  for (let n = 0; n < STANDING; n++) leases.acquire("standing", path(n));
  const ours = (count, from) => {
    for (let n = from; n < from + count; n++) {
      leases.acquire("a", at(n));
      leases.release("a", at(n));
    }
  };
  const locks = async (count, from) => {
    for (let n = from; n < from + count; n++) await navigator.locks.request(at(n), () => undefined);
  };
  return inTurns(turns, each, ours, locks);
};
