/** The notice `called`: an agent gets the outcome of a call that it asked for. Its event is repeated until it has that. */
import { fittingCalls } from "@edgecall/core/loop/history.ts";
import { cutText, RESULT_TEXT_MAX_BYTES } from "@edgecall/core/tools/runner.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import type { HomeContext } from "../context.ts";
import type { LedgerCall } from "../ledger/ledger.ts";
import { GATEWAY_CALLER, sendNotice } from "./commands.ts";

/** Sends the outcome to the agent that asked. @returns true: the agent asks again until it has it */
export async function answerAgent(
  home: HomeContext,
  call: LedgerCall,
  outcome: SettledOutcome,
): Promise<boolean> {
  if (call.asker?.by === "agent") await sendCalled(home, call.asker.agent, call.id, outcome, call.agent);
  return true;
}

/** @param to the agent that asked @param agent the one that was called */
export async function sendCalled(
  home: HomeContext,
  to: string,
  callId: string,
  outcome: SettledOutcome,
  agent?: string,
): Promise<void> {
  const payload = { call_id: callId, outcome: toCalled(outcome, agent) };
  await sendNotice(home, { agent: to, caller: GATEWAY_CALLER }, "called", payload);
}

/** @returns a `CalledOutcome` of core/protocol/mqtt.ts */
export function toCalled(outcome: SettledOutcome, agent: string | undefined): Record<string, unknown> {
  const {
    status,
    text,
    advice,
    errorType,
    elapsedMs,
    calls = [],
    asked,
    media,
    usage,
    job,
    routed,
    session,
  } = outcome;
  const shown = fittingCalls(calls);
  return {
    status,
    text: cutText(text, RESULT_TEXT_MAX_BYTES),
    ...(advice !== undefined && { advice }),
    ...(errorType && { error_type: errorType }),
    elapsed_ms: Math.max(0, Math.round(elapsedMs)),
    ...(agent !== undefined && { agent }),
    ...(shown.length > 0 && { calls: shown }),
    ...(asked === false && { asked }),
    ...(media && { media }),
    ...(usage && { usage }),
    ...(job !== undefined && { job }),
    ...(routed && { routed }),
    ...(session !== undefined && { session }),
  };
}
