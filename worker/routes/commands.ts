/** `POST /v1/agents/{id}/commands`: sends one command to one agent and answers with its report. Query: `wait`, 25 s; 0 answers with the command's id at once. */
import { AGENT_ID } from "@edgecall/core/protocol/names.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { forPerson } from "@edgecall/core/tools/advice.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { SettledOutcome } from "../api/calls.ts";
import { ACTION_MARGIN_MS, type AgentCommand, PROMPT_MAX_MS, PROMPT_SILENCE_MS } from "../api/edge-call.ts";
import { errorBody } from "../api/errors.ts";
import { homeOf, withRetry } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { requireScope } from "../http/auth.ts";
import { HttpError } from "../http/errors.ts";
import { firstMessage } from "../http/object-stream.ts";
import { pathName, readBody } from "../http/request.ts";
import { JSON_PATIENCE_MS } from "../http/turn-stream.ts";
import { readSettings } from "../settings/settings.ts";

export const commands = newRoutes();

commands.post("/v1/agents/:agent/commands", runCommand);
commands.get("/v1/agents/:agent/commands/:request", showCommand);

const REQUEST_ID = /^[A-Za-z0-9-]{1,64}$/;

const CommandBody = z.strictObject({
  /** Home checks that an agent of ours knows the command; a foreign agent may know others. */
  command: z.string().check(z.regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/, "expected a command's name")),
  payload: z._default(z.record(z.string(), z.unknown()), {}),
});

async function runCommand(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "command");
  const agent = pathName(c, "agent", AGENT_ID, "an agent's id");
  const { command, payload } = await readBody(c, CommandBody);
  const patience = waitOf(c, JSON_PATIENCE_MS);
  const id = crypto.randomUUID();
  const order = orderOfCommand(command, payload, readSettings(c.env).defaultToolTimeoutMs);
  const caller = { principal: token.name, role: token.role, channel: "api" };
  const reply = await withRetry(
    async () => await homeOf(c.env, token.home).command({ id, agent, order, caller }),
  );
  if (!reply.accepted) return answer(c, id, agent, reply.outcome);
  return await answerWithin(c, token.home, id, agent, patience);
}

/** @param patience ms; afterwards the answer is the command's id, to look again later */
async function answerWithin(
  c: Context<App>,
  home: string,
  id: string,
  agent: string,
  patience: number,
): Promise<Response> {
  const text =
    patience === 0
      ? undefined
      : await firstMessage(
          homeOf(c.env, home),
          `/wait?call=${id}`,
          patience,
          c.req.raw.signal,
          // The command was sent, so the caller needs its id more than the reason.
        ).catch(() => undefined);
  // SAFETY: our own object sent it.
  if (text !== undefined) return answer(c, id, agent, JSON.parse(text) as SettledOutcome);
  return c.json({ request_id: id, agent, status: "running" }, 202);
}

/** Reads `wait`, the seconds that the caller waits for the outcome. @returns ms */
function waitOf(c: Context<App>, fallbackMs: number): number {
  const text = c.req.query("wait");
  if (text === undefined) return fallbackMs;
  const seconds = Number(text);
  if (text !== "" && Number.isInteger(seconds) && seconds >= 0 && seconds * 1_000 <= JSON_PATIENCE_MS)
    return seconds * 1_000;
  throw new HttpError(
    400,
    "invalid_query",
    `wait: expected whole seconds from 0 to ${JSON_PATIENCE_MS / 1_000}`,
  );
}

/** `GET …/commands/{request_id}`: the outcome of a command that took longer than its request waited. Query: `wait`, 0 s. */
async function showCommand(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "command");
  const agent = pathName(c, "agent", AGENT_ID, "an agent's id");
  const id = pathName(c, "request", REQUEST_ID, "a command's request_id");
  const patience = waitOf(c, 0);
  const outcome = await homeOf(c.env, token.home).outcome(agent, id, token);
  if (outcome === undefined) throw new HttpError(404, "not_found", "no such command");
  return outcome === null
    ? await answerWithin(c, token.home, id, agent, patience)
    : answer(c, id, agent, outcome);
}

const STATUS: Partial<Record<ErrorType, ContentfulStatusCode>> = {
  not_found: 404,
  invalid_params: 400,
  offline: 409,
  timeout: 504,
  outcome_unknown: 504,
};

/** A report of the agent is a success over HTTP, also when it reports a failure. Without a report the answer is an error. */
function answer(c: Context<App>, id: string, agent: string, outcome: SettledOutcome): Response {
  if (outcome.report)
    return c.json({ request_id: id, agent, ...outcome.report, elapsed_ms: outcome.elapsedMs });
  const type = outcome.errorType ?? "execution_failed";
  if (outcome.retryAfterS !== undefined)
    return c.json(errorBody("agent_busy", forPerson(outcome)), 429, {
      "retry-after": String(outcome.retryAfterS),
    });
  return c.json(errorBody(type, forPerson(outcome)), STATUS[type] ?? 502);
}

function orderOfCommand(
  command: string,
  payload: Record<string, unknown>,
  defaultTimeoutMs: number,
): AgentCommand {
  const idempotent = ["ping", "tools_list", "sensor", "get_metrics"].includes(command);
  if (command === "prompt")
    return { command, payload, silenceMs: PROMPT_SILENCE_MS, totalMs: PROMPT_MAX_MS, idempotent };
  const wanted = payload.timeout_ms;
  const timeoutMs =
    typeof wanted === "number" && wanted > 0 && wanted <= 86_400_000 ? wanted : defaultTimeoutMs;
  return {
    command,
    payload,
    silenceMs: timeoutMs + ACTION_MARGIN_MS,
    totalMs: timeoutMs + ACTION_MARGIN_MS,
    idempotent,
  };
}
