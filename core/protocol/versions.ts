/**
 * Which programs work together: decided here, for gateway, bridge, agent and command alike.
 *
 * Before 1.0 it is the minor version that may change the wire; a patch never does. A gateway takes bridges and agents
 * of its own minor version and of the one before. So the gateway is updated first, and what is at home follows within
 * one version; what does not fit is not served, and is told so.
 */
import { VERSION } from "./names.ts";

/** What a gateway talks with. */
export type Peer = "bridge" | "agent";

/** The action by which a device updates its program: the one that an agent gets which fits no more. */
export const UPDATE_ACTION = "update_self";

/** What follows (`-rc.1`) changes nothing here. No more digits than a sentence can hold. */
const READABLE = /^(\d{1,4})\.(\d{1,4})\.\d{1,6}(?![\d.])/;

/**
 * Why a program does not fit its gateway, in words that name both versions and what to do. They hold nothing of the
 * version but its numbers, and fit a close reason (123 bytes).
 * @param version of the program; one that cannot be read, or none, says nothing against it
 * @returns undefined: it fits
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
