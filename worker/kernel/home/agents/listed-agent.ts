/** What memory holds of an agent, as its row has it, and what follows from that. Pure. */

import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { HOSTED_FEATURE, HOSTED_TYPE, type HostedState } from "@edgecall/core/protocol/devices.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import { isShortId } from "@edgecall/core/text/label.ts";
import type { ActionNames } from "./advert-store.ts";
import {
  type AcceptedText,
  type AdvertText,
  isAcceptedGroup,
  type NewText,
  NOTHING_ACCEPTED,
  newText,
} from "./advert-text.ts";
import { type KnownTexts, NO_TEXTS } from "./verify-presence.ts";

export type AgentRow = {
  id: string;
  online: number;
  reason: string | null;
  last_seen: number | null;
  is_foreign: number;
  line: string;
  type: string | null;
  version: string | null;
  features: string;
  advert: string;
  problem: string | null;
  changed_at: number;
  accepted: string;
  texts: string;
  greeted: string | null;
  share_group: string | null;
  hosted: string | null;
  conditions: string;
};

/** Conditions of an agent. `own`: it reported them itself; `seen`: the bridge did. */
type ReportedConditions = { own: readonly Condition[]; seen: readonly Condition[] };

/** What memory holds of an agent. */
export type ListedAgent = {
  id: string;
  online: boolean;
  reason: string | undefined;
  lastSeen: number | null;
  foreign: boolean;
  line: string;
  type: string | null;
  version: string | null;
  features: readonly string[];
  /** The key of its actions in the table `advert`. */
  advert: string;
  names: ActionNames;
  problem: string | null;
  conditions: ReportedConditions;
  /** As it says itself, and as an owner has accepted it. */
  group: string | null;
  acceptedGroup: string | undefined;
  changedAt: number;
  texts: KnownTexts;
  /** The gateway's version, the agent's run, and what its bridge knew at the last greeting. */
  greeted: string | null;
  /** Why its program does not fit this gateway. */
  incompatibleWith: string | undefined;
  newText: NewText | undefined;
  /** Its words count by their first use alone. */
  isByUse: boolean;
  /** The bridge plays it. Without effect where an agent with this id has a key. */
  hosted: HostedState | undefined;
  /** An owner has accepted the bridge's line, so that all of it is shown. */
  isLineAccepted: boolean;
};

/** The bridge speaks for it, whatever its advert claims: it belongs to no group, and nobody asks in its name. The bridge ends its calls' waits. */
export const AS_HOSTED = { type: HOSTED_TYPE, features: [HOSTED_FEATURE, "cancel"], group: null };

export function toListed(row: AgentRow, names: ActionNames, isSigned: boolean): ListedAgent {
  const { by, online, run, rules, ...hashes } = JSON.parse(row.texts) as Partial<Record<string, string>> & {
    online?: boolean;
  };
  const agent: ListedAgent = {
    id: row.id,
    online: row.online === 1,
    reason: row.reason ?? undefined,
    lastSeen: row.last_seen,
    foreign: row.is_foreign === 1,
    line: row.line,
    type: row.type,
    version: row.version,
    features: JSON.parse(row.features) as string[],
    advert: row.advert,
    names,
    problem: row.problem,
    conditions: JSON.parse(row.conditions) as ReportedConditions,
    group: row.share_group,
    acceptedGroup: undefined,
    changedAt: row.changed_at,
    // Another version may read the same text otherwise.
    texts: by === VERSION ? { hashes, saysOnline: online === true, run, rules } : NO_TEXTS,
    greeted: row.greeted,
    incompatibleWith: undefined,
    newText: undefined,
    isByUse: false,
    hosted: row.hosted === null ? undefined : (JSON.parse(row.hosted) as HostedState),
    isLineAccepted: false,
  };
  return finish(agent, JSON.parse(row.accepted) as AcceptedText, isSigned);
}

/** What of its adverts is stored in a form that can be read. */
export function advertisedBy({ texts: { hashes }, problem }: ListedAgent): {
  line: boolean;
  actions: boolean;
} {
  return {
    line: hashes.capabilities !== undefined,
    actions: hashes.tools !== undefined && problem?.startsWith("tools:") !== true,
  };
}

/** What was wrong with a text that stays. */
export function problemOf(agent: ListedAgent | undefined, kind: string): string | undefined {
  return agent?.problem?.startsWith(`${kind}:`) === true ? agent.problem : undefined;
}

/** Adds what follows from the rest. */
export function finish(agent: ListedAgent, accepted: AcceptedText, isSigned: boolean): ListedAgent {
  // A foreign agent has versions of its own, and the bridge that hosts a device has been asked for its.
  const hasVersion = agent.features.length > 0 && !agent.hosted;
  agent.incompatibleWith = hasVersion ? versionProblem("agent", agent.version) : undefined;
  const isPlain = agent.hosted !== undefined && [agent.id, ...agent.names.names].every(isShortId);
  agent.newText = isPlain ? undefined : newText(textOf(agent), accepted, isSigned);
  // A default line and the names of edgecall's own tools are nobody's words.
  agent.isByUse =
    accepted.byUse === true &&
    !agent.hosted &&
    newText(textOf(agent), NOTHING_ACCEPTED, isSigned) !== undefined;
  agent.isLineAccepted = accepted.lines.includes(agent.line);
  const { group } = agent;
  agent.acceptedGroup = group !== null && isAcceptedGroup(group, accepted) ? group : undefined;
  return agent;
}

/** True if a row would say nothing new. While an agent is online, the bridge's own sign of life is its last seen. */
export function isSame(a: ListedAgent, b: ListedAgent): boolean {
  return (
    a.online === b.online &&
    a.reason === b.reason &&
    (b.online || a.lastSeen === b.lastSeen) &&
    a.foreign === b.foreign &&
    a.line === b.line &&
    a.type === b.type &&
    a.version === b.version &&
    a.features.join() === b.features.join() &&
    a.advert === b.advert &&
    a.problem === b.problem &&
    JSON.stringify(a.conditions) === JSON.stringify(b.conditions) &&
    a.greeted === b.greeted &&
    a.group === b.group &&
    JSON.stringify(a.hosted) === JSON.stringify(b.hosted) &&
    JSON.stringify(a.texts) === JSON.stringify(b.texts)
  );
}

/**
 * When it was last seen: a bridge that has fallen silent confirmed for the agent until then, and the row is as old as the last change.
 * @param confirmedUntil epoch ms; null: no bridge was there @returns epoch ms; null: never
 */
export function lastSeenOf(
  { online, lastSeen }: Pick<ListedAgent, "online" | "lastSeen">,
  confirmedUntil: number | null,
): number | null {
  return online ? Math.max(lastSeen ?? 0, confirmedUntil ?? 0) || null : lastSeen;
}

export function textOf({
  id,
  line,
  names,
  group,
}: Pick<ListedAgent, "id" | "line" | "names" | "group">): AdvertText {
  return { id, line, actions: names.names, group };
}
