/** What of an agent's adverts can be used. An advert is a stranger's text: it is checked, bounded and put in order here. */
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import { type ActionAdvert, Capabilities, ToolsAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { AGENT_ID, isReservedId, RESERVED_ID } from "@edgecall/core/protocol/names.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { oneLine } from "../../api/roster.ts";

/** An agent's line may be this long in the roster; a model sees less of it. */
const LINE_MAX = 1_000;

/** `problem`: what is wrong, in words. A broken advert does not hide the agent. */
type ReadLine = {
  line: string;
  type: string | null;
  version: string | null;
  features: string[];
  group: string | null;
  conditions: readonly Condition[];
  problem: string | undefined;
};

export function readCapabilities({ id, capabilities }: AgentState): ReadLine {
  const advert: ReadLine = {
    line: `${id} edge agent`,
    type: null,
    version: null,
    features: [],
    group: null,
    conditions: [],
    problem: undefined,
  };
  if (capabilities === undefined) return advert;
  const read = checkJson(Capabilities, capabilities);
  if (!read.ok) return { ...advert, problem: `capabilities: ${read.error}` };
  const line = oneLine(read.value.capabilities, LINE_MAX);
  // A line of invisible characters counts as none.
  if (/[^\p{C}\p{Z}]/u.test(line)) advert.line = line;
  advert.type = read.value.agent_type ?? null;
  advert.version = read.value.version ?? null;
  advert.features = read.value.features ?? [];
  advert.conditions = read.value.conditions ?? [];
  const { group } = read.value;
  if (group !== undefined && isReservedId(group)) advert.problem = `group: ${RESERVED_ID}`;
  else if (group !== undefined && AGENT_ID.test(group)) advert.group = group;
  return advert;
}

export function readTools({ tools }: AgentState): { tools: ActionAdvert[]; problem: string | undefined } {
  if (tools === undefined) return { tools: [], problem: undefined };
  const read = checkJson(ToolsAdvert, tools);
  if (!read.ok) return { tools: [], problem: `tools: ${read.error}` };
  return { tools: read.value.tools, problem: undefined };
}

/**
 * Names of actions, those first that a device is asked for most, since a model is shown the beginning of the list: its
 * figures, then its hardware, then files, shell and the rest.
 */
export function namesByUse(tools: readonly ActionAdvert[]): string[] {
  return tools
    .toSorted((a, b) => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

/** Actions that serve a device's own loop, and hardly ever a model at the gateway. */
const OF_ITS_LOOP = ["question", "skill", "task", "todoread", "todowrite"];

function rankOf({ name, effect, taints }: ActionAdvert): number {
  if (OF_ITS_LOOP.includes(name)) return 4;
  if (effect === "read") return taints ? 2 : 0;
  return effect === "device" ? 1 : 3;
}
