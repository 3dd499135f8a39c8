/** `POST /v1/agents/{id}/commands`: sends one command to one agent and answers with its report. Query: `wait`, 25 s; 0 answers with the command's id at once. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { forPerson } from "@edgecall/core/tools/advice.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { CommandReport } from "../api/answers.ts";
import type { SettledOutcome } from "../api/calls.ts";
import { ACTION_MARGIN_MS, type AgentCommand, PROMPT_MAX_MS, PROMPT_SILENCE_MS } from "../api/edge-call.ts";
import { homeOf, withRetry } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { HttpError } from "../http/errors.ts";
import { AGENT, text, wholeNumber } from "../http/fields.ts";
import { firstMessage } from "../http/object-stream.ts";
import { type Answer, json, route } from "../http/route.ts";
import { traceOf } from "../http/trace.ts";
import { JSON_PATIENCE_MS } from "../http/turn-stream.ts";
import { readSettings } from "../settings/settings.ts";

export const commands = newRoutes();

const REQUEST_ID = /^[A-Za-z0-9-]{1,64}$/;

const CommandBody = z.strictObject({
  /** Home checks that an agent of ours knows the command; a foreign agent may know others. */
  command: z.string().check(z.regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/, "expected a command's name")),
  payload: z._default(z.record(z.string(), z.unknown()), {}),
});

const WAIT_MAX_S = JSON_PATIENCE_MS / 1_000;

/**
 * Sends one command to one agent and answers with its report; `running` when the report takes longer than `wait`. 202 with
 * `request_id` after 25 s, or after `wait`. 404: unknown agent; 409: offline; 504: no answer.
 */
route(
  commands,
  "POST /v1/agents/:agent/commands",
  {
    scope: "command",
    path: { agent: AGENT },
    query: {
      /** Seconds to wait for the report; 0 answers with the command's id at once. */
      wait: wholeNumber({ fallback: WAIT_MAX_S, min: 0, max: WAIT_MAX_S }),
    },
    body: CommandBody,
  },
  async (c, { token, path: { agent }, query: { wait }, body: { command, payload } }) => {
    const id = crypto.randomUUID();
    const order = orderOfCommand(command, payload, readSettings(c.env).defaultToolTimeoutMs);
    const caller = { principal: token.name, role: token.role, channel: "api" };
    const trace = traceOf(c);
    const isPress = c.get("session") && token.role === "owner" && token.scopes.includes("approve");
    const pressed = isPress && { pressed: true as const };
    const reply = await withRetry(
      async () =>
        await homeOf(c.env, token.home).calls.command({ id, agent, order, caller, ...pressed, ...trace }),
    );
    if (!reply.accepted) return answer(c, id, agent, reply.outcome);
    return await answerWithin(c, token.home, id, agent, wait);
  },
);

/** Shows a command that took longer than its request waited. */
route(
  commands,
  "GET /v1/agents/:agent/commands/:request",
  {
    scope: "command",
    path: { agent: AGENT, request: text(REQUEST_ID, "a command's request_id") },
    query: {
      /** Seconds to wait for the report. */
      wait: wholeNumber({ fallback: 0, min: 0, max: WAIT_MAX_S }),
    },
  },
  async (c, { token, path: { agent, request }, query: { wait } }) => {
    const outcome = await homeOf(c.env, token.home).calls.outcome(agent, request, token);
    if (outcome === undefined) throw new HttpError(404, "not_found", "no such command");
    return outcome === null
      ? await answerWithin(c, token.home, request, agent, wait)
      : answer(c, request, agent, outcome);
  },
);

type Running = { request_id: string; agent: string; status: "running" };

/** @param wait s; afterwards the answer is the command's id, to look again later */
async function answerWithin(
  c: Context<App>,
  home: string,
  id: string,
  agent: string,
  wait: number,
): Promise<Answer<CommandReport> | Answer<Running, 202>> {
  const text =
    wait === 0
      ? undefined
      : await firstMessage(
          homeOf(c.env, home),
          `/wait?call=${id}`,
          wait * 1_000,
          c.req.raw.signal,
          // The command was sent, so the caller needs its id more than the reason.
        ).catch(() => undefined);
  // SAFETY: our own object sent it.
  if (text !== undefined) return answer(c, id, agent, JSON.parse(text) as SettledOutcome);
  return json(c, { request_id: id, agent, status: "running" }, 202);
}

const STATUS: Partial<Record<ErrorType, ContentfulStatusCode>> = {
  not_found: 404,
  invalid_params: 400,
  offline: 409,
  timeout: 504,
  outcome_unknown: 504,
};

/** A report of the agent is a success over HTTP, also when it reports a failure. @throws HttpError when there is no report */
function answer(c: Context<App>, id: string, agent: string, outcome: SettledOutcome): Answer<CommandReport> {
  if (outcome.report)
    return json(c, { request_id: id, agent, ...outcome.report, elapsed_ms: outcome.elapsedMs });
  const type = outcome.errorType ?? "execution_failed";
  if (outcome.retryAfterS !== undefined) {
    c.header("retry-after", String(outcome.retryAfterS));
    throw new HttpError(429, "agent_busy", forPerson(outcome));
  }
  throw new HttpError(STATUS[type] ?? 502, type, forPerson(outcome));
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
