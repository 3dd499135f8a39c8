/**
 * `edge_call`: the one device tool that a model sees, whatever number of devices and tools there are.
 * Its description is made afresh from the roster for each model call, sorted, with the seed's words.
 */

import type { Call, Outcome } from "@edgecall/core/loop/history.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { jsonSchema, z } from "@edgecall/core/protocol/parse.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import { type ToolDefinition, toolDefinition } from "@edgecall/core/tools/registry.ts";
import { checkArguments } from "./check-arguments.ts";
import { ago, type HomeCounts, oneLine, type Roster, type RosterAgent } from "./roster.ts";

export const EDGE_CALL = "edge_call";
/** Offered beside it in a large home; find-agents.ts has it. */
export const FIND_AGENTS = "find_agents";

/** The target of a call that any agent may run. */
export const ANY = "any";

/** OpenAI's API refuses descriptions of more than 1,024 characters, and with them the whole request. */
export const DESCRIPTION_MAX = 1_000;
/** An agent's line and its action names, in characters: many agents must still fit a prompt. */
const LINE_MAX = 300;
const ACTIONS_MAX = 200;
/** Known offline agents in the system prompt. */
const OFFLINE_MAX = 20;
/** Of a large home's excerpt, in characters: together with the tools, a model's request has at most 1,500 tokens for a home of any size. */
const EXCERPT = { chars: 1_600, line: 120, actions: 80, areas: 560, counts: 8 };
/** The room that other tools take from the agents of a large home. */
export type RoomUsed = "some" | "much";

/** Session tools take some room, that of five of the eight, and those of rules much. */
const EXCERPT_BESIDE_SOME = { chars: 380, line: 70, actions: 40, areas: 0, counts: 8 };
const EXCERPT_BESIDE_MUCH = { chars: 285, line: 42, actions: 20, areas: 0, counts: 5 };
/** Kinds and areas that are counted there, the most frequent ones. */
const COUNTS_MAX = 8;
/** Kinds that are counted of one area. */
const KINDS_AN_AREA = 3;
const OTHER_AREAS_CHARS = 120;

/** An agent that was asked in words and is silent for so long is gone. Its loop reports progress every 20 s. */
export const PROMPT_SILENCE_MS = 60_000;
export const PROMPT_MAX_MS = 15 * 60_000;
/** Added to an action's own time-out for the way there and back, so that the action's own answer comes first. */
export const ACTION_MARGIN_MS = 10_000;

/** Commands of the API that an agent of ours knows; what it makes of each is its own policy's matter. */
export const AGENT_COMMANDS: ReadonlySet<string> = new Set([
  "ping",
  "tools_list",
  "tool",
  "prompt",
  "execute",
  "sensor",
  "skill",
  "update_strategy",
  "update_genome",
  "get_metrics",
  "evolution",
  "shutdown",
]);

const EdgeCallInput = z.strictObject({
  agent_id: z.string(),
  query: z.optional(z.string()),
  action: z.optional(z.string()),
  params: z.optional(z.record(z.string(), z.unknown())),
});
export type EdgeCallArgs = z.infer<typeof EdgeCallInput>;

/** The part of a tool that the runner's parser needs. */
export const edgeCallTool = {
  name: EDGE_CALL,
  input: EdgeCallInput,
  /** Models give `params` as a JSON text, and empty texts for what they leave out. */
  prepare(raw: Record<string, unknown>): Record<string, unknown> {
    const args = { ...raw };
    for (const name of ["query", "action", "params"]) if (args[name] === "") delete args[name];
    if (typeof args.params === "string") {
      try {
        args.params = JSON.parse(args.params);
      } catch {
        // Left as it is: the parser names the field.
      }
    }
    return args;
  },
};

function callable(roster: Roster): { online: RosterAgent[]; queueing: RosterAgent[] } {
  const agents = roster.excerptOf ? roster.agents : roster.agents.toSorted(byId);
  return {
    online: agents.filter((agent) => agent.online),
    queueing: agents.filter((agent) => !agent.online && agent.queues.length > 0),
  };
}

/** The agents that are online, by their groups. */
function groupsOf(online: readonly RosterAgent[]): Array<[string, RosterAgent[]]> {
  const ids = new Set(online.map(({ id }) => id));
  const groups = Map.groupBy(online, ({ group }) => group);
  // An agent of that name is called in its place.
  return [...groups].flatMap(
    ([group, members]): Array<[string, RosterAgent[]]> =>
      group === undefined || ids.has(group) ? [] : [[group, members]],
  );
}

function groupLine(group: string, members: readonly RosterAgent[], max: number): string {
  const ids = members.map(({ id }) => id).join(", ");
  return `  - ${group} (group of ${members.length}, one of them does it): ${ids.slice(0, max)}`;
}

/** One for each group and each agent that can be called. */
function agentLines(roster: Roster, lineMax = LINE_MAX, actionsMax = ACTIONS_MAX): string[] {
  const { online, queueing } = callable(roster);
  return [
    ...groupsOf(online).map(([group, members]) => groupLine(group, members, actionsMax)),
    ...online.map(
      (agent) => `  - ${agent.id}: ${agent.line.slice(0, lineMax)}${actionNames(agent, actionsMax)}`,
    ),
    ...queueing.map(
      (agent) =>
        `  - ${agent.id} (offline; it gets these actions when it comes back: ${agent.queues.join(", ").slice(0, actionsMax)})`,
    ),
  ];
}

const SEED_TEXT = "Call an edge agent to handle a query using its own tools and sensors.";
const CALL_TEXT = `${SEED_TEXT} Online edge agents:`;

/** Words for a provider's cache: the definition stands before all that changes. */
const STEADY_TEXT = `${SEED_TEXT} The newest message from [edgecall] has those that it reaches.`;

const LARGE_HOME_TEXT = `${SEED_TEXT} This home has many: take an id that you were shown, or find one with ${FIND_AGENTS}.`;

/** The seed's words, and as many agents as fit. @param more where a model finds the others */
function callDescription(lines: readonly string[], more: string): string {
  const whole = [CALL_TEXT, ...lines].join("\n");
  if (whole.length <= DESCRIPTION_MAX) return whole;
  let description = CALL_TEXT;
  for (const [at, line] of lines.entries()) {
    const rest = `  - and ${lines.length - at - 1} more: ${more}`;
    const next = `${description}\n${line}`;
    if (next.length + 1 + rest.length > DESCRIPTION_MAX)
      return `${description}\n  - and ${lines.length - at} more: ${more}`;
    description = next;
  }
  return description;
}

/**
 * The agents that can be called, for the system prompt, where the tool's description has no room for all.
 * @param beside tools that are offered too, and take some of a large home's room
 * @param steady the tool's description has none of them
 */
export function agentsNote(roster: Roster, beside: readonly RoomUsed[], steady = false): string {
  if (roster.excerptOf) {
    const room = beside.includes("much")
      ? EXCERPT_BESIDE_MUCH
      : beside.length > 0
        ? EXCERPT_BESIDE_SOME
        : EXCERPT;
    return excerptNote(roster, roster.excerptOf, room);
  }
  const lines = agentLines(roster);
  const fits = !steady && [CALL_TEXT, ...lines].join("\n").length <= DESCRIPTION_MAX;
  return fits || lines.length === 0 ? "" : `Edge agents that ${EDGE_CALL} reaches:\n${lines.join("\n")}`;
}

/** Of a large home: the agents that fit the question, and how many there are of what. */
function excerptNote(
  roster: Roster,
  { known, online, kinds, areas, kindsIn }: HomeCounts,
  room: typeof EXCERPT,
): string {
  const lines: string[] = [];
  let chars = 0;
  for (const line of agentLines(roster, room.line, room.actions)) {
    chars += line.length + 1;
    if (chars > room.chars) break;
    lines.push(line);
  }
  const best = lines.length > 0 ? ` Those that fit best, or were used here before:\n${lines.join("\n")}` : "";
  return [
    `This home has ${known} edge agents, ${online} of them online; ${FIND_AGENTS} finds them.${best}`,
    countsLine("kind", kinds, room.counts),
    areaLines(areas, kindsIn, room),
  ]
    .filter(Boolean)
    .join("\n");
}

/** @returns a line for each area with its commonest kinds, as many as `room.areas` characters hold; the others by their counts alone */
function areaLines(
  areas: HomeCounts["areas"],
  kindsIn: HomeCounts["kindsIn"],
  room: { areas: number; counts: number },
): string {
  const lines: string[] = [];
  let chars = 0;
  for (const [at, [area, count]] of areas.entries()) {
    const line = `  ${area} ${count}: ${countText(kindsIn[at] ?? [], KINDS_AN_AREA)}`;
    chars += line.length + 1;
    if (chars > room.areas) break;
    lines.push(line);
  }
  if (lines.length === 0) return countsLine("area", areas, room.counts);
  const others = areas.slice(lines.length);
  if (others.length > 0)
    lines.push(`  ${oneLine(`${others.length} more: ${countText(others, COUNTS_MAX)}`, OTHER_AREAS_CHARS)}`);
  return ["Agents by area:", ...lines].join("\n");
}

/** @returns "Agents by kind: light 210, lock 12, …" */
export function countsLine(what: string, counts: HomeCounts["kinds"], max = COUNTS_MAX): string {
  if (counts.length === 0) return "";
  return `Agents by ${what}: ${countText(counts, max)}`;
}

function countText(counts: HomeCounts["kinds"], max: number): string {
  const words = counts.slice(0, max).map(([name, count]) => `${name} ${count}`);
  return `${words.join(", ")}${counts.length > max ? ", …" : ""}`;
}

/**
 * The definition for a model, or undefined when nobody is online: no dead tools.
 * @param more where the agents stand that its description has no room for
 * @param steady it is the same for every roster, for a provider's cache
 */
export function edgeCallDefinition(
  roster: Roster,
  { more = "the system prompt has all of them", steady = false } = {},
): ToolDefinition | undefined {
  const { online, queueing } = callable(roster);
  const { excerptOf } = roster;
  if (online.length + queueing.length + (excerptOf?.online ?? 0) === 0) return undefined;
  const ofAgents = steady ? STEADY_TEXT : callDescription(agentLines(roster), more);
  return definitionOf(excerptOf ? LARGE_HOME_TEXT : ofAgents, {
    type: "string",
    description: steady ? targetText(true) : describeTargets(roster),
    ...(!excerptOf && !steady && { enum: targetsOf(roster) }),
  });
}

/** A cache: most requests to a model have the definition of the request before, and its schema takes long to reduce. */
const MADE = new Map<string, ToolDefinition>();
const MADE_MAX = 50;

function definitionOf(description: string, agentId: Readonly<Record<string, unknown>>): ToolDefinition {
  const key = JSON.stringify([description, agentId]);
  const made = MADE.get(key) ?? makeDefinition(description, agentId);
  if (MADE.size >= MADE_MAX) MADE.clear();
  MADE.set(key, made);
  return made;
}

function makeDefinition(description: string, agentId: Readonly<Record<string, unknown>>): ToolDefinition {
  return toolDefinition(EDGE_CALL, description, {
    type: "object",
    properties: {
      agent_id: agentId,
      query: { type: "string", description: "natural language query (agent handles routing)" },
      action: { type: "string", description: "optional: specific action name for structured calls" },
      params: { type: "object", description: "optional: parameters for the structured action" },
      // core/loop/dependencies.ts takes these two out before the call is checked.
      id: { type: "string", description: "optional: name of this call, for 'after'" },
      after: {
        type: "array",
        items: { type: "string" },
        description:
          'optional: ids of calls of this reply to wait for; {"$ref":"/ID/result"} in params stands for a result',
      },
    },
    required: ["agent_id"],
  });
}

/** The values that `agent_id` may have. */
function targetsOf(roster: Roster): string[] {
  const { online, queueing } = callable(roster);
  const ids = [...online, ...queueing].map(({ id }) => id);
  return [...ids, ...groupsOf(online).map(([group]) => group), ...(online.length > 1 ? [ANY] : [])];
}

/** @returns the description of `agent_id` */
export function describeTargets({ agents, excerptOf }: Pick<Roster, "agents" | "excerptOf">): string {
  const online = excerptOf?.online ?? agents.filter((agent) => agent.online).length;
  return targetText(online > 1);
}

function targetText(several: boolean): string {
  return `ID of the target edge agent${several ? `; '${ANY}': one that can do it and is free` : ""}`;
}

function actionNames(agent: RosterAgent, max: number): string {
  if (agent.actions.length === 0) return "";
  const only = agent.hasModel ? "actions" : "has no model, only actions";
  let names = "";
  for (const name of agent.actions) {
    const longer = names ? `${names}, ${name}` : name;
    if (longer.length > max) return ` [${only}: ${names}, …]`;
    names = longer;
  }
  return ` [${only}: ${names}]`;
}

/** @returns text for the system prompt on known agents that are offline, so that a model can tell the person */
export function offlineNote(roster: Roster, now: number): string {
  const offline = roster.agents.filter((agent) => !agent.online).sort(byId);
  const lineMax = roster.excerptOf ? EXCERPT.line : LINE_MAX;
  const parts: string[] = [];
  if (!roster.bridgeOnline)
    parts.push("The bridge at home is not connected, so no device can be reached right now.");
  if (offline.length > 0) {
    const lines = offline
      .slice(0, OFFLINE_MAX)
      .map(
        (agent) => `  - ${agent.id} (last seen ${ago(agent.lastSeen, now)}): ${agent.line.slice(0, lineMax)}`,
      );
    if (offline.length > OFFLINE_MAX) lines.push(`  - and ${offline.length - OFFLINE_MAX} more`);
    parts.push(`Known edge agents that are offline and cannot be called:\n${lines.join("\n")}`);
  } else if (roster.agents.length === 0 && !roster.excerptOf) {
    parts.push("No edge agent is known in this home yet.");
  }
  return parts.join("\n");
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** The command that Home sends to the agent for an edge_call. */
export type AgentCommand = {
  command: string;
  payload: Record<string, unknown>;
  /** ms of silence after which the call ends. */
  silenceMs: number;
  /** ms after which the call ends in any case. */
  totalMs: number;
  /** Running it twice does no harm. */
  idempotent: boolean;
  /** It changes nothing, so nobody needs to approve it. */
  readOnly?: boolean;
  /** ms that it may wait for its agent. */
  queueMs?: number;
};

/** Settings for calls without a time of their own. */
export type CommandTimes = { defaultToolTimeoutMs: number; foreignTimeoutMs: number };

export type AgentCommandResult = { ok: true; order: AgentCommand } | { ok: false; text: string };

/** The agent as Home knows it, with the schemas of its actions. */
export type CallTarget = RosterAgent & {
  adverts: ActionAdvert[];
  /** It has a policy of its own and asks the person by itself. */
  asks: boolean;
  /** Why its program does not fit this gateway; undefined: it does. */
  incompatibleWith: string | undefined;
  /** Another home lends it: what is known of it was true a while ago, and it sends no signs of life. */
  lent?: true;
};

/** A call ends here so much later than at its lender, whose outcome says more than ours. */
export const LENT_MARGIN_MS = 15_000;

/** Turns the arguments of an edge_call into a command, or into words for the model on why that cannot be. */
export function toAgentCommand(
  args: EdgeCallArgs,
  target: CallTarget,
  times: CommandTimes,
): AgentCommandResult {
  const { query, action } = args;
  const advert =
    action === undefined ? undefined : target.adverts.find((candidate) => candidate.name === action);
  if (query === undefined && action === undefined) return invalid(target, "missing 'query' or 'action'");
  if (advert && (query === undefined || !target.hasModel)) {
    return asked(target, actionOrder(advert, args.params ?? {}, times.defaultToolTimeoutMs));
  }
  if (query !== undefined) {
    return target.hasModel
      ? asked(target, promptOrder(query, target, times))
      : invalid(target, `agent '${target.id}' has no model and cannot be asked in words; use 'action'`);
  }
  if (target.adverts.length > 0) return invalid(target, `agent '${target.id}' has no action '${action}'`);
  const prompt = `Execute action: ${action} with params: ${JSON.stringify(args.params ?? {})}`;
  return asked(target, promptOrder(prompt, target, times));
}

function asked({ lent }: CallTarget, order: AgentCommand): AgentCommandResult {
  if (!lent) return { ok: true, order };
  const totalMs = order.totalMs + LENT_MARGIN_MS;
  return { ok: true, order: { ...order, silenceMs: totalMs, totalMs } };
}

function actionOrder(
  advert: ActionAdvert,
  parameters: Record<string, unknown>,
  defaultTimeoutMs: number,
): AgentCommand {
  const wanted = parameters.timeout_ms;
  const timeoutMs =
    typeof wanted === "number" && wanted > 0 ? wanted : (advert.timeout_ms ?? defaultTimeoutMs);
  return {
    command: "tool",
    payload: { tool: advert.name, parameters, timeout_ms: Math.round(timeoutMs) },
    silenceMs: timeoutMs + ACTION_MARGIN_MS,
    totalMs: timeoutMs + ACTION_MARGIN_MS,
    idempotent: advert.idempotent === true || advert.effect === "read",
    readOnly: advert.effect === "read",
    ...(advert.queue_ms !== undefined && { queueMs: advert.queue_ms }),
  };
}

/** True if a question in words leads to nothing but reads: the agent can do nothing else. */
export function onlyReads({ adverts }: Pick<CallTarget, "adverts">): boolean {
  return adverts.length > 0 && adverts.every(({ effect }) => effect === "read");
}

function promptOrder(prompt: string, target: CallTarget, { foreignTimeoutMs }: CommandTimes): AgentCommand {
  const readsOnly = onlyReads(target);
  return {
    command: "prompt",
    payload: { prompt, enable_tools: true },
    silenceMs: target.foreign ? foreignTimeoutMs : PROMPT_SILENCE_MS,
    totalMs: target.foreign ? foreignTimeoutMs : PROMPT_MAX_MS,
    idempotent: readsOnly,
    readOnly: readsOnly,
  };
}

function invalid(target: CallTarget, problem: string): AgentCommandResult {
  const names = target.actions.length > 0 ? target.actions.join(", ") : "none";
  return {
    ok: false,
    text: `${errorText.invalidParams(EDGE_CALL, problem, jsonSchema(EdgeCallInput)).text}\nActions of '${target.id}': ${names}.`,
  };
}

export type CheckedCall = { ok: true; args: EdgeCallArgs } | { ok: false; outcome: Outcome };

/**
 * A call that no device needs to see: unknown tool, arguments that cannot be read or are wrong.
 * @param others tools that there are beside edge_call
 */
export function checkEdgeCall(call: Call, others: readonly string[] = []): CheckedCall {
  if (call.name !== EDGE_CALL) {
    const words = errorText.unknownTool(call.name, [EDGE_CALL, ...others].sort());
    return {
      ok: false,
      outcome: { status: "error", errorType: "not_found", ...words, elapsedMs: 0, sources: [] },
    };
  }
  const checked = checkArguments(edgeCallTool, call);
  // SAFETY: it was parsed with EdgeCallInput.
  return checked.ok ? { ok: true, args: checked.input as EdgeCallArgs } : checked;
}
