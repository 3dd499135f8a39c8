/**
 * Decides which versions of gateway, bridge, agent and command work together.
 *
 * Before 1.0 a minor version may change the wire; a patch never does. A gateway accepts bridges and agents of its own minor
 * version and of the one before. So the gateway is updated first and the programs at home follow within one version. A
 * program that does not fit is refused, and told why.
 */
import { VERSION } from "./names.ts";

/** The programs that talk with a gateway. */
export type Peer = "bridge" | "agent";

/** The action that updates a device's program. It is the only one that an agent of a wrong version still gets. */
export const UPDATE_ACTION = "update_self";

/** A suffix such as `-rc.1` is ignored. The number of digits is bounded because error texts quote them. */
const READABLE = /^(\d{1,4})\.(\d{1,4})\.\d{1,6}(?![\d.])/;

/**
 * Says why a program does not fit its gateway, naming both versions and what to do. The text quotes only the numbers of the
 * version, and fits a WebSocket's close reason (123 bytes).
 * @param version the program's; an absent or unreadable one is accepted
 * @returns undefined when the program fits
 */
export function versionProblem(
  peer: Peer,
  version: string | null | undefined,
  gateway: string = VERSION,
): string | undefined {
  const theirs = READABLE.exec(version ?? "");
  const ours = READABLE.exec(gateway);
  if (!theirs || !ours) return undefined;
  const majors = Number(theirs[1]) - Number(ours[1]);
  const minors = Number(theirs[2]) - Number(ours[2]);
  if (majors === 0 && (minors === 0 || minors === -1)) return undefined;
  const isOlder = majors < 0 || (majors === 0 && minors < 0);
  if (isOlder) return `${peer} ${theirs[0]} is too old for gateway ${ours[0]}: update the ${peer}`;
  const back = `${ours[1]}.${ours[2]}`;
  return `${peer} ${theirs[0]} is newer than gateway ${ours[0]}: update the gateway, or put the ${peer} back to ${back}`;
}
