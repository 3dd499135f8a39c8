/**
 * One call of an MCP client to a device. It goes through Home and the device's policy like every other call. The client waits for a
 * limited time; a longer call continues, and edge_result returns its outcome.
 */

import { windowMs } from "@edgecall/core/test-clock.ts";
import type { CallNews, SettledOutcome, SubmitRequest } from "../../kernel/api/calls.ts";
import type { EdgeCallArgs } from "../../kernel/api/edge-call.ts";
import type { AskedQuestion } from "../../kernel/api/questions.ts";
import { homeOf, withRetry } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import { requireValid } from "../../kernel/http/auth.ts";
import { socketMessages, whileAllowed } from "../../kernel/http/object-stream.ts";
import type { ApiToken } from "../../kernel/settings/tokens.ts";

/** Clients of the SDK give up after 60 s without progress. */
const PATIENCE_MS = windowMs(50_000, 5_000);
/** A request is held open no longer; the call continues. */
const PATIENCE_WITH_PROGRESS_MS = 5 * 60_000;
const PROGRESS_EVERY_MS = windowMs(10_000, 1_000);
/** A socket that closes early means that the object is being replaced, so the Worker attaches again. */
const REATTACH_TRIES = 5;
const REATTACH_PAUSE_MS = 1_000;

export type CallEnd =
  | { end: "outcome"; outcome: SettledOutcome }
  /** A person has to answer before the call continues. */
  | { end: "question"; question: AskedQuestion }
  | { end: "running" };

export type Waiting = {
  /** The client has left, or cancelled the call. */
  signal: AbortSignal;
  /** The client's own limit in ms; the usual limit is the maximum. */
  patienceMs?: number | undefined;
  /** A person was told of the question already, so their answer is waited for. */
  throughQuestions?: boolean;
  /** Reports progress; absent when the client wants none. */
  progress?: ((text: string) => void) | undefined;
};

export type DeviceCall = { id: string; args: EdgeCallArgs; tainted: boolean; trace: string | undefined };

export async function callDevice(
  env: Env,
  token: ApiToken,
  { id, args, tainted, trace }: DeviceCall,
  waiting: Waiting,
): Promise<CallEnd> {
  const request: SubmitRequest = {
    id,
    conversation: null,
    args,
    caller: { principal: token.name, role: token.role, channel: "mcp" },
    ...(token.grant && { program: token.grant.id }),
    watched: waiting.progress !== undefined,
    tainted,
    trace,
  };
  const reply = await withRetry(async () => await homeOf(env, token.home).calls.submit(request));
  if (!reply.accepted) return { end: "outcome", outcome: reply.outcome };
  return await awaitCall(env, token, args.agent_id, id, waiting);
}

/** Waits for a call that Home has, up to the client's limit. */
export async function awaitCall(
  env: Env,
  token: ApiToken,
  agent: string,
  id: string,
  { signal, progress, patienceMs, throughQuestions = false }: Waiting,
): Promise<CallEnd> {
  const most = progress ? PATIENCE_WITH_PROGRESS_MS : PATIENCE_MS;
  const over = AbortSignal.any([signal, AbortSignal.timeout(Math.min(patienceMs ?? most, most))]);
  const allowed = whileAllowed(over, () => requireValid(env, token));
  const since = Date.now();
  let question: AskedQuestion | undefined;
  const life = setInterval(
    () => progress?.(`still at it, ${Math.round((Date.now() - since) / 1_000)} s`),
    PROGRESS_EVERY_MS,
  );
  try {
    for (let tries = 0; tries < REATTACH_TRIES && !allowed.signal.aborted; tries += 1) {
      if (tries > 0) await new Promise((resolve) => setTimeout(resolve, REATTACH_PAUSE_MS));
      const events = eventsOf(env, token.home, id, allowed.signal);
      const onQuestion = (asked: AskedQuestion) => {
        question = asked;
        return throughQuestions;
      };
      const end = await attach(events, onQuestion, progress).catch(() => undefined);
      if (end) return end;
    }
  } finally {
    clearInterval(life);
    allowed.end();
  }
  // When the token was revoked meanwhile, its client does not get the outcome.
  if (allowed.signal.aborted && !over.aborted) return { end: "running" };
  const outcome = await homeOf(env, token.home).calls.outcome(agent, id, token);
  if (outcome) return { end: "outcome", outcome };
  return question ? { end: "question", question } : { end: "running" };
}

function eventsOf(env: Env, home: string, id: string, signal: AbortSignal): AsyncIterable<string> {
  return socketMessages(homeOf(env, home), `/wait?call=${id}&live`, signal);
}

/** @param onQuestion returns false when the client is to be told of the question now */
async function attach(
  events: AsyncIterable<string>,
  onQuestion: (question: AskedQuestion) => boolean,
  progress: Waiting["progress"],
): Promise<CallEnd | undefined> {
  for await (const text of events) {
    // SAFETY: our own object sent it.
    const message = JSON.parse(text) as CallNews | SettledOutcome;
    if (!("news" in message)) return { end: "outcome", outcome: message };
    if (message.news === "question") {
      const { question } = message;
      if (!onQuestion(question)) return { end: "question", question };
    } else progress?.(message.text);
  }
  return undefined;
}
