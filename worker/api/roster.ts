/** What Home tells of its agents: to the model (through edge-call.ts) and to `GET /v1/agents`. */
export { oneLine } from "@edgecall/core/tools/one-line.ts";

export type RosterAgent = {
  id: string;
  online: boolean;
  /** Why it is not online, in words. */
  reason: string | undefined;
  /** Epoch ms of its last sign of life; null when there never was one. */
  lastSeen: number | null;
  /** Its advert: one line, bounded and on one line, never trusted. */
  line: string;
  /** Names of the actions it advertises. */
  actions: string[];
  /** Those of them that may wait for it while it is offline. */
  queues: string[];
  /** Whether it can be asked in words. A foreign agent always can: it says nothing of it. */
  hasModel: boolean;
  foreign: boolean;
  /** No owner has accepted what it says of itself. */
  newText?: true;
};

export type Roster = {
  bridgeOnline: boolean;
  agents: RosterAgent[];
};

/** The agents that a caller's model is told of. */
export function inReach(roster: Roster, ids: readonly string[] | undefined): Roster {
  return ids ? { ...roster, agents: roster.agents.filter(({ id }) => ids.includes(id)) } : roster;
}

/** "3 minutes ago", "never": how long since an agent was heard, for a model or a person. */
export function ago(then: number | null, now: number): string {
  if (then === null) return "never";
  const seconds = Math.max(0, Math.round((now - then) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 2 * 86_400) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}
