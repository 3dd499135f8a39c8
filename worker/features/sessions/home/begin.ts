/**
 * `sessions_spawn` and `sessions_send`: each begins a turn with the id of its call, in a session of its own or in one that is there.
 * So a repeat finds the turn, and nothing here is stored. The end of the turn comes from the session itself.
 */

import { joinSources } from "@edgecall/core/loop/taint.ts";
import { SUB_AGENT_TEXT } from "@edgecall/core/text/sub-agent.ts";
import type { SessionToolInputs } from "@edgecall/core/tools/session-tools.ts";
import { isAgentForm } from "../../../kernel/api/agent-ids.ts";
import {
  type BegunSessions,
  type HomeToolReply,
  type HomeToolRequest,
  SESSION_PREFIX,
  sessionId,
} from "../../../kernel/api/home-tools.ts";
import type { StartRule } from "../../../kernel/api/start-turn.ts";
import { conversationOf } from "../../../kernel/api/stubs.ts";
import { noSession, refused, type ToolAnswer } from "../../../kernel/api/tool-answer.ts";
import type { Limits, NewTurn, SessionTurn } from "../../../kernel/api/turns.ts";
import type { Env } from "../../../kernel/env.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { modelsOf } from "../../../kernel/home/models/models.ts";
import { conversationListOf } from "../../../kernel/home/people/conversation-list.ts";
import { sessionIn } from "../conversation-api.ts";
import { isSeen } from "./seen.ts";

/** Sessions above a session. */
const DEPTH_MAX = 3;
/** Sessions of one conversation, or of one device, that have not ended; and those that it begins in an hour. */
const RUNNING_MAX = 5;
const AN_HOUR_MAX = 20;
const HOUR_MS = 3_600_000;
/** A device's newest sessions, of which is asked whether they run. */
const LOOKED_AT = 10;

/** Tokens of a session that is given no budget, and where the conversation has none. */
const BUDGET = 100_000;
/** Less than a model call takes. */
const BUDGET_MIN = 1_000;

const SEND_WAITS_S = 60;

type Answer = ToolAnswer | Exclude<HomeToolReply, { outcome: unknown }>;

export async function spawn(
  home: HomeContext,
  request: HomeToolRequest,
  input: SessionToolInputs["sessions_spawn"],
): Promise<Answer> {
  const { task, label, timeout_seconds: waits = 0 } = input;
  const session = sessionId(request.id);
  const name = `${home.name}/api/${session}`;
  const there = await sessionIn(home.env, name).info();
  // A device chooses its ids itself.
  if (there && there.principal !== request.origin.principal)
    return refused("invalid_params", "That id is in use.");
  const known = there && (await turnOf(home, request, name));
  if (known) return answerOf(request, session, known, waits);
  const budget = budgetOf(request, input.budget_tokens);
  const refusal =
    (await refusalOf(home, request)) ??
    (await refusalOfChoice(home, request, input)) ??
    refusalOfBudget(budget, input);
  if (refusal) return refusal;
  const { agent } = request.from;
  if (agent && !conversationListOf(home).share(name, [agent.person]))
    return refused("execution_failed", "This home shares too many conversations.");
  const limits = limitsOf(request.origin.limits ?? {}, input);
  const model = input.model ?? request.origin.model;
  const origin = {
    ...request.origin,
    ...(limits && { limits }),
    ...(model !== undefined && { model }),
    brought: { instructions: SUB_AGENT_TEXT },
    session: { ...sessionOf(request), budget, ...(label !== undefined && { label }) },
  };
  const begun = await begin(home.env, name, { ...turnWith(request, task), origin }, "own");
  return begun ? answerOf(request, session, begun, waits) : refused("invalid_params", "That id is in use.");
}

export async function send(
  home: HomeContext,
  request: HomeToolRequest,
  { session, message, timeout_seconds: waits = SEND_WAITS_S }: SessionToolInputs["sessions_send"],
): Promise<Answer> {
  const name = `${home.name}/api/${session}`;
  if (name === request.from.conversation)
    return refused("invalid_params", "That is this session itself.", "Answer the user.");
  const there = await sessionIn(home.env, name).info();
  if (!there || !isSeen(home, request, session, there, true)) return noSession(session);
  const known = await turnOf(home, request, name);
  if (known) return answerOf(request, session, known, waits);
  const budget = budgetOf(request, undefined);
  const refusal = (await refusalOf(home, request)) ?? refusalOfBudget(budget, {});
  if (refusal) return refusal;
  const origin = { ...request.origin, session: { ...sessionOf(request), budget } };
  const begun = await begin(home.env, name, { ...turnWith(request, message), origin }, "any");
  return begun ? answerOf(request, session, begun, waits) : noSession(session);
}

async function begin(
  env: Env,
  name: string,
  turn: NewTurn,
  rule: StartRule,
): Promise<SessionTurn | undefined> {
  const at = Date.now();
  const begun = await conversationOf(env, name).start(turn, rule);
  return begun && { at, budget: turn.origin.session?.budget };
}

/** A device that asks again takes the outcome with the answer. */
async function turnOf(
  { env }: HomeContext,
  { id, from }: HomeToolRequest,
  name: string,
): Promise<SessionTurn | undefined> {
  return await sessionIn(env, name).turn(id, from.agent !== undefined);
}

function turnWith({ id, sources }: HomeToolRequest, text: string): Omit<NewTurn, "origin"> {
  return { id, idempotency: id, text, images: [], sources: joinSources(sources) };
}

function sessionOf({ from: { conversation, call, depth = 0, agent } }: HomeToolRequest) {
  return { parent: conversation, call, depth: depth + 1, ...(agent && { agent: agent.id }) };
}

/** @param waits seconds from the turn's beginning, so that the end is the same however often it is asked */
function answerOf(
  { id, from }: HomeToolRequest,
  session: string,
  { at, outcome, budget }: SessionTurn,
  waits: number,
): Answer {
  if (outcome) return outcome;
  const waitsUntil = at + waits * 1_000;
  if (waitsUntil > Date.now()) return { waitsUntil };
  const tells = from.conversation !== null;
  const how = tells
    ? "Its end comes as a message of its own."
    : "session_status says when it has ended, and sessions_history what it answered.";
  return {
    status: "success",
    text: `Accepted: session ${session} is at work. ${how}`,
    advice: tells ? "Go on, or tell the user that it is at work. Do not wait for it." : undefined,
    job: id,
    session,
    sources: [],
    ...(budget !== undefined && { reserved: budget }),
  };
}

/** Returns the most tokens for a request: all that is left, and half of it where the request names none, so that the next one has some. */
function budgetOf({ budgetLeft }: HomeToolRequest, wanted: number | undefined): number {
  if (wanted !== undefined) return Math.min(wanted, budgetLeft ?? wanted);
  return budgetLeft === undefined ? BUDGET : Math.min(BUDGET, Math.floor(budgetLeft / 2));
}

function refusalOfBudget(budget: number, { budget_tokens }: { budget_tokens?: number | undefined }) {
  if (budget >= BUDGET_MIN) return undefined;
  const why =
    budget_tokens !== undefined && budget_tokens < BUDGET_MIN
      ? `budget_tokens is ${budget_tokens}`
      : "The budget here has too little left for a session";
  return refused("permission_denied", `${why}; it takes ${BUDGET_MIN} tokens at least.`);
}

async function refusalOf(home: HomeContext, request: HomeToolRequest): Promise<ToolAnswer | undefined> {
  const { depth = 0 } = request.from;
  if (depth >= DEPTH_MAX)
    return refused(
      "permission_denied",
      `There are ${DEPTH_MAX} sessions above this already, which is the most.`,
      "Do it yourself, or explain to the user.",
    );
  const { running, lastHour } = request.begun ?? (await begunBy(home, request.origin.principal));
  if (running >= RUNNING_MAX)
    return refused(
      "execution_failed",
      `${running} sessions that were begun here have not ended, and ${RUNNING_MAX} is the most.`,
      "Wait for one of them.",
    );
  return lastHour >= AN_HOUR_MAX
    ? refused(
        "execution_failed",
        `${lastHour} sessions were begun here in the last hour, which is the most.`,
        "Do it yourself, or explain to the user.",
      )
    : undefined;
}

/** The sessions of a device, which keeps no list of them. */
async function begunBy(home: HomeContext, principal: string): Promise<BegunSessions> {
  const { env, name } = home;
  const since = Date.now() - HOUR_MS;
  const own = conversationListOf(home)
    .of(principal, { limit: AN_HOUR_MAX })
    .filter((one) => one.id.startsWith(SESSION_PREFIX) && one.principal === undefined);
  const states = await Promise.all(
    own.slice(0, LOOKED_AT).map(({ id }) => sessionIn(env, `${name}/api/${id}`).info()),
  );
  return {
    running: states.filter((info) => info && info.status !== "idle").length,
    lastHour: own.filter(({ last_at }) => last_at >= since).length,
  };
}

/** Returns the problem of the model, or of the agents. */
async function refusalOfChoice(
  home: HomeContext,
  { origin }: HomeToolRequest,
  { model, agents = [] }: SessionToolInputs["sessions_spawn"],
): Promise<ToolAnswer | undefined> {
  const models = (await modelsOf(home)).map(({ name }) => name);
  if (model !== undefined && !models.includes(model))
    return refused("invalid_params", `There is no model '${model}', only ${models.join(", ")}.`);
  const reach = origin.limits?.agents;
  const wrong = agents.find((id) => !isAgentForm(id) || (reach && !reach.includes(id)));
  return wrong === undefined
    ? undefined
    : refused("permission_denied", `Agent '${wrong}' is not in reach of this caller.`);
}

/** Those of the caller, and within them those that were asked for. */
function limitsOf(
  { readsOnly, agents }: Limits,
  { reads_only, agents: wanted }: SessionToolInputs["sessions_spawn"],
): Limits | undefined {
  const within = wanted ?? agents;
  const limits = {
    ...((readsOnly || reads_only) && { readsOnly: true }),
    ...(within && { agents: within }),
  };
  return Object.keys(limits).length > 0 ? limits : undefined;
}
