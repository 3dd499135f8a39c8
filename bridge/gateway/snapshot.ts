/** Turns states of agents into frames of bounded size. */
import type { AgentState, BridgeFrame } from "@edgecall/core/protocol/frames.ts";

export const SNAPSHOT_MAX_AGENTS = 64;
/** Bytes of JSON. Home reads some frames at once, and is deaf meanwhile: 0.25 s with four times as much. A larger agent has a frame to itself (its tools are bounded at 192 KiB). */
export const SNAPSHOT_MAX_BYTES = 64 * 1024;

/** Splits the states into `snapshot` frames, the last one marked; one empty frame when there are none. */
export function snapshotFrames(states: readonly AgentState[]): BridgeFrame[] {
  const groups = inGroups(states);
  return groups.map((agents, index) => ({ t: "snapshot", agents, last: index === groups.length - 1 }));
}

/** Splits the states into groups that fit a frame; one empty group when there are none. */
export function inGroups(states: readonly AgentState[]): AgentState[][] {
  const groups: AgentState[][] = [[]];
  let bytes = 0;
  for (const state of states) {
    const size = Buffer.byteLength(JSON.stringify(state));
    const group = groups.at(-1) ?? [];
    const full = group.length >= SNAPSHOT_MAX_AGENTS || bytes + size > SNAPSHOT_MAX_BYTES;
    if (full && group.length > 0) {
      groups.push([state]);
      bytes = size;
    } else {
      group.push(state);
      bytes += size;
    }
  }
  return groups;
}
