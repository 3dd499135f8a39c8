/** Texts for a person whose turn did not end well. */

import { agentOfCall, type Outcome, outcomeForModel } from "@edgecall/core/loop/history.ts";
import type { ModelSettings } from "@edgecall/core/loop/request.ts";
import type { ModelError } from "@edgecall/core/loop/retry.ts";
import { TooLongError } from "@edgecall/core/loop/too-long-error.ts";
import { ENGLISH, type Phrases } from "@edgecall/core/phrases/phrases.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { forModel } from "@edgecall/core/tools/advice.ts";
import { WORKERS_AI_URL } from "../settings/workers-ai.ts";
import type { StoredCall, StoredEntry } from "./store/rows.ts";

/**
 * Tells a person what to do about a model that gave no answer: it names the setting where one is to blame. That is for whoever runs
 * the gateway, in English as its settings are.
 * @returns undefined: there is nothing to do but to try again
 */
export function modelAdvice(
  error: ModelError,
  model: Pick<ModelSettings, "baseUrl" | "model">,
): string | undefined {
  if (error instanceof TooLongError)
    return error.advice({ reply: "MAX_TOKENS", history: "HISTORY_MAX_TOKENS" });
  const isWorkersAi = model.baseUrl === WORKERS_AI_URL;
  if (isWorkersAi && error.status === 404)
    return `Check that LLM_MODEL names one of Cloudflare's models; '${model.model}' is not known there.`;
  if (isWorkersAi) return undefined;
  if (error.spent) return error.spent === "credit" ? NO_CREDIT : PERIOD_USED;
  if (error.unreachable)
    return "Check that the model's endpoint runs, and that its address (Setup, Model, or LLM_BASE_URL) is right.";
  switch (error.status) {
    case 401:
    case 403:
      return "Check the model's key: in Setup, LLM_API_KEY, or the variable that LLM_MODELS names for it.";
    case 402:
      return NO_CREDIT;
    case 404:
      return `Check that the endpoint has the model '${model.model}' (Setup, Model, or LLM_MODEL), and that its address (LLM_BASE_URL) ends as the endpoint wants it, most often in /v1.`;
    case 400:
    case 413:
    case 422:
      return "The endpoint does not take this request. Check LLM_MODEL, MAX_TOKENS and TEMPERATURE.";
    case 429:
      return "The model's endpoint allows no more requests now. Ask again in a minute.";
    default:
      return undefined;
  }
}

const PERIOD_USED =
  "The model's endpoint allows no more requests until its limit begins anew: ask again then, or set another model.";
const NO_CREDIT = "The account behind the model's key has no credit left: add some, or set another model.";

/**
 * Tells a person what to do after a failure, what was done by then, and what may have been.
 * @param advice for when nothing was done, or nothing succeeded; absent: to try again later
 */
export function tryAgain(
  history: readonly StoredEntry[],
  advice?: string,
  phrases: Phrases = ENGLISH,
): string {
  const turn = history.at(-1)?.turn;
  const calls = history
    .filter((entry) => entry.turn === turn)
    .flatMap((entry) => (entry.role === "assistant" ? entry.calls : []))
    .filter(({ same }) => same === undefined);
  const done = calls.filter((call) => call.outcome?.status === "success");
  const unsure = calls.filter((call) => !call.outcome || UNSURE.has(call.outcome.errorType ?? ""));
  const parts: string[] = [];
  if (done.length > 0)
    parts.push(
      phrases.say("gotBefore", {
        text: cutText(done.map((call) => call.outcome?.text ?? "").join("\n"), 2_000),
      }),
    );
  if (unsure.length > 0)
    parts.push(
      phrases.say("unknownIfDone", { calls: unsure.map((call) => whatOf(call, phrases)).join("; ") }),
    );
  const next = advice ?? phrases.say("tryLater");
  if (calls.length === 0) parts.push(phrases.sentences(phrases.say("nothingDone"), next));
  else if (parts.length === 0) parts.push(phrases.sentences(phrases.say("nothingSucceeded"), next));
  else if (advice !== undefined) parts.push(advice);
  return parts.join("\n");
}

/** Outcomes after which something may have happened. */
const UNSURE: ReadonlySet<string> = new Set(["outcome_unknown", "timeout"]);

function whatOf(call: StoredCall, phrases: Phrases): string {
  const { action, query } = call.args;
  const agent = String(agentOfCall(call));
  return typeof action === "string"
    ? phrases.say("actionOn", { action, agent })
    : phrases.say("queryOn", { query: JSON.stringify(query ?? ""), agent });
}

export function cancelledOutcome(sent: boolean): Outcome {
  if (!sent)
    return {
      status: "error",
      errorType: "execution_failed",
      text: "Cancelled before it was sent. Nothing was run.",
      elapsedMs: 0,
      sources: [],
    };
  return {
    status: "error",
    errorType: "outcome_unknown",
    text: "Cancelled while the device was at it: it may or may not have run.",
    elapsedMs: 0,
    sources: [],
  };
}

export function cancelledAnswer(sent: number, phrases: Phrases = ENGLISH): string {
  return sent === 0 ? phrases.say("cancelled") : phrases.say("cancelledSent", { count: sent });
}

/** Tells the model of a result that comes late. The result is the device's text, so it is quoted. */
export function lateNote(call: StoredCall, outcome: Outcome): string {
  if (outcome.session !== undefined) {
    const { label } = call.name === "sessions_spawn" ? call.args : {};
    const named = typeof label === "string" ? ` (${JSON.stringify(label)})` : "";
    const end = outcome.status === "success" ? "Its answer" : "It did not succeed";
    return `The session ${outcome.session}${named} has ended. ${end}:\n${forModel(outcome)}`;
  }
  const { action, query } = call.args;
  const agent = agentOfCall({ args: call.args, outcome });
  const what = typeof action === "string" ? `action '${action}'` : `query ${JSON.stringify(query ?? "")}`;
  const how = outcome.status === "success" ? "It succeeded" : "It failed";
  // The agent that was chosen is in the sentence.
  const { routed: _, ...words } = outcome;
  if (outcome.corrects)
    return `An earlier call (agent '${agent}', ${what}) was told as done, and is not. Result:\n${outcomeForModel(words)}`;
  return `The result of an earlier call (agent '${agent}', ${what}) has arrived. ${how}. Result:\n${outcomeForModel(words)}`;
}
