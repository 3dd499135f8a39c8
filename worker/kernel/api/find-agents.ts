/**
 * `find_agents`: how a model finds the agents of a large home, by a person's words. It reads what Home knows of its agents, and asks none
 * of them, so it needs no approval.
 */
import type { Call, Outcome } from "@edgecall/core/loop/history.ts";
import type { Source } from "@edgecall/core/loop/taint.ts";
import { agentSource } from "@edgecall/core/loop/taint.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { jsonSchema, z } from "@edgecall/core/protocol/parse.ts";
import { type ToolDefinition, toolDefinition } from "@edgecall/core/tools/registry.ts";
import { schemaForModels } from "@edgecall/core/tools/schema-for-models.ts";
import { checkArguments } from "./check-arguments.ts";
import { type CallTarget, countsLine, EDGE_CALL, FIND_AGENTS } from "./edge-call.ts";
import { ago, type HomeCounts, oneLine, type RosterAgent, unreadSources } from "./roster.ts";

const FOUND_DEFAULT = 5;
const FOUND_MAX = 20;
/** Of one answer. */
const ANSWER_CHARS_MAX = 6_000;
export const LINE_MAX = 300;
/** Of the names of an agent's actions, those first that fit the words. */
export const NAMES_CHARS_MAX = 300;
/** Of a device's own description of an action. */
const WORDS_MAX = 500;
const TEXT_MAX = 1_000;
const FILTER_MAX = 100;

const FindAgentsInput = z.strictObject({
  text: z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(TEXT_MAX),
      z.describe("what is wanted, in the person's words; or one agent's id"),
    ),
  area: z
    .optional(z.string().check(z.maxLength(FILTER_MAX)))
    .check(z.describe("only there: kitchen, hall 2")),
  kind: z
    .optional(z.string().check(z.maxLength(FILTER_MAX)))
    .check(z.describe("only of that kind: light, lock")),
  reading: z
    .optional(z.string().check(z.maxLength(FILTER_MAX)))
    .check(z.describe("only devices that report so now: battery < 20, open")),
  limit: z
    .optional(z.int().check(z.minimum(1), z.maximum(FOUND_MAX)))
    .check(z.describe(`at most so many agents; ${FOUND_DEFAULT}`)),
});
export type FindQuery = z.infer<typeof FindAgentsInput>;

/** The part of a tool that the runner's parser needs. */
export const findAgentsTool = {
  name: FIND_AGENTS,
  input: FindAgentsInput,
  /** Models give empty texts for what they leave out. */
  prepare(raw: Record<string, unknown>): Record<string, unknown> {
    return Object.fromEntries(Object.entries(raw).filter(([name, value]) => name === "text" || value !== ""));
  },
};

export type CheckedSearch = { ok: true; query: FindQuery } | { ok: false; outcome: Outcome };

/** @returns the query, or what is wrong with the call's arguments */
export function checkFindAgents(call: Pick<Call, "args" | "problem">): CheckedSearch {
  const checked = checkArguments(findAgentsTool, call);
  // SAFETY: it was parsed with FindAgentsInput.
  return checked.ok ? { ok: true, query: checked.input as FindQuery } : checked;
}

const FIND_AGENTS_TEXT = `Find edge agents by what they are, where they are and what they can do. Answers ids for ${EDGE_CALL}, presence and actions; if it answers one agent (its id as text, or limit 1), with the parameters of its actions.`;

export function findAgentsDefinition(): ToolDefinition {
  return toolDefinition(FIND_AGENTS, FIND_AGENTS_TEXT, shownSchema());
}

/** Without the bounds of parameters, which an error names: the definition is in every model call of a large home. */
function shownSchema(): Record<string, unknown> {
  const { properties, required } = jsonSchema(FindAgentsInput);
  const shown = Object.entries(properties as Record<string, { type: string; description: string }>).map(
    ([name, { type, description }]) => [name, { type, description }],
  );
  return { type: "object", properties: Object.fromEntries(shown), required };
}

/** The answer to a search. `sources`: whose words it holds that no owner has accepted. */
export type FoundText = { text: string; sources: Source[] };

export function limitOf({ limit = FOUND_DEFAULT }: FindQuery): number {
  return Math.min(limit, FOUND_MAX);
}

/**
 * Several agents, the best first, with the names of their actions. As in a roster, only words that no owner has accepted are a stranger's.
 * @param found with the actions first that fit the words @param there agents in the area and of the kind that were asked for
 */
export function foundAgents(
  found: readonly RosterAgent[],
  counts: HomeCounts,
  now: number,
  { readings, there = 0 }: { readings?: FoundReadings | undefined; there?: number | undefined } = {},
): FoundText {
  if (found.length === 0) {
    const there = [countsLine("kind", counts.kinds), countsLine("area", counts.areas)];
    const text = ["No agent fits these words. Try others, or fewer.", ...there].filter(Boolean).join("\n");
    return { text, sources: [] };
  }
  const listed: RosterAgent[] = [];
  const agents: object[] = [];
  let chars = 0;
  for (const agent of found) {
    // Why it went is in its own words, which a roster does not show either.
    const summary = agentSummary({ ...agent, reason: undefined }, now);
    const shown = {
      ...summary,
      actions: namesWithin(agent.actions, NAMES_CHARS_MAX),
      ...readingsOf(agent, readings),
    };
    chars += JSON.stringify(shown).length;
    if (chars > ANSWER_CHARS_MAX && listed.length > 0) break;
    listed.push(agent);
    agents.push(shown);
  }
  // "Everything in the kitchen" is more than what is listed.
  const more = there - agents.length;
  return {
    text: JSON.stringify({
      agents,
      ...(more > 0 && { more_there: more }),
      of: counts.known,
      ...(readings === "none" && NO_READINGS),
    }),
    sources: unreadSources(listed),
  };
}

/** Hosted devices' last reports, in words, by id. `none`: the bridge did not answer. */
export type FoundReadings = ReadonlyMap<string, readonly string[]> | "none";

const NO_READINGS = { readings: "unknown now: the bridge did not answer within a second" };

function readingsOf(
  { id }: RosterAgent,
  readings: FoundReadings | undefined,
): { readings?: readonly string[] } {
  const own = readings === "none" ? undefined : readings?.get(id);
  return own && own.length > 0 ? { readings: own } : {};
}

/**
 * Hosted devices by what they report.
 * @param found in their order, with the readings that fit; undefined: the bridge did not answer @param of devices that were asked about
 * @param none where no device fits: words of the condition that nothing here is called, and the readings that there are
 */
export function foundByReading(
  found: ReadonlyArray<{ agent: RosterAgent; readings: readonly string[] }> | undefined,
  of: number,
  none?: { unknown: readonly string[]; there: readonly string[] },
): FoundText {
  if (!found) return { text: JSON.stringify({ ...NO_READINGS, of }), sources: [] };
  const devices: object[] = [];
  const shownAgents: RosterAgent[] = [];
  let chars = 0;
  for (const { agent, readings } of found) {
    const shown = {
      agent_id: agent.id,
      ...(agent.name !== undefined && { name: agent.name }),
      ...(!agent.online && { online: false }),
      readings,
    };
    chars += JSON.stringify(shown).length;
    if (chars > ANSWER_CHARS_MAX) break;
    devices.push(shown);
    shownAgents.push(agent);
  }
  const more = found.length - devices.length;
  return {
    text: JSON.stringify({
      devices,
      ...(more > 0 && { more_that_fit: more }),
      ...(none && none.unknown.length > 0 && { unknown_words: none.unknown }),
      ...(none && { readings_there: none.there }),
      of,
    }),
    sources: unreadSources(shownAgents),
  };
}

/** One agent with the schemas of its actions. Those are its own words, and no owner is asked to accept them. */
export function foundAgent(
  target: CallTarget,
  first: readonly string[],
  readings: FoundReadings | undefined,
  now: number,
): FoundText {
  const rank = ({ name }: ActionAdvert) => (first.includes(name) ? first.indexOf(name) : first.length);
  const adverts = target.adverts.toSorted((a, b) => rank(a) - rank(b));
  const agent = {
    ...agentSummary(target, now),
    actions: actionSchemas(adverts, ANSWER_CHARS_MAX),
    ...(readings === "none" ? NO_READINGS : readingsOf(target, readings)),
  };
  return { text: JSON.stringify({ agents: [agent] }), sources: [agentSource(target.id)] };
}

export function agentSummary(
  { id, online, reason, lastSeen, line, hasModel, group, hosted }: RosterAgent,
  now: number,
) {
  return {
    agent_id: id,
    online,
    ...(!online && { last_seen: ago(lastSeen, now), ...(reason && { reason }) }),
    capabilities: oneLine(line, LINE_MAX),
    ...(!hosted && { takes_queries: hasModel }),
    ...(group !== undefined && { group }),
  };
}

/** As many actions with their schemas as fit, then names alone. @param max characters */
export function actionSchemas(adverts: readonly ActionAdvert[], max: number): Array<object | string> {
  let chars = 0;
  const actions: Array<object | string> = [];
  for (const { name, description, parameters, effect } of adverts) {
    const isFull = chars > max;
    const action = isFull
      ? { name }
      : {
          name,
          description: oneLine(description, WORDS_MAX),
          ...(effect && { effect }),
          params: schemaForModels(parameters),
        };
    chars += JSON.stringify(action).length;
    if (chars > 2 * max) return [...actions, "…"];
    actions.push(chars > max ? { name } : action);
  }
  return actions;
}

export function namesWithin(names: readonly string[], max: number): string[] {
  let chars = 0;
  const fit = names.findIndex((name) => {
    chars += name.length + 3;
    return chars > max;
  });
  return fit < 0 ? [...names] : [...names.slice(0, fit), "…"];
}
