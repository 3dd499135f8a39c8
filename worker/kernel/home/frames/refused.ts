/** The bridge did not send a call on, and says why. */

import { agentSource, type Source } from "@edgecall/core/loop/taint.ts";
import type { BridgeFrame, Refusal } from "@edgecall/core/protocol/frames.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import { tryNext } from "../calls/choose-agent.ts";
import { settleByGateway } from "../calls/outcome-delivery.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";

/** Refusals that another agent may not get, with the words for it. */
const OF_ONE_AGENT: Partial<Record<Refusal, string>> = {
  agent_offline: "was not online",
  not_listening: "did not listen",
  agent_busy: "was busy",
};

/** In each of these the agent has certainly not run the call. */
const REFUSAL_TYPES: Record<Refusal, ErrorType> = {
  expired: "timeout",
  agent_offline: "offline",
  not_listening: "offline",
  broker_offline: "offline",
  agent_busy: "execution_failed",
  too_large: "invalid_params",
  invalid: "execution_failed",
};

/** Another agent that may run the call gets it, or the call ends with what the bridge says. */
export async function onRefused(home: HomeContext, frame: BridgeFrame & { t: "refused" }): Promise<void> {
  const { id, code, message, retry_after_ms } = frame;
  const refused = ledgerOf(home).get(id);
  // The agent before this one refused it, and this one may run it.
  if (!refused || (refused.flags.any && frame.agent !== undefined && frame.agent !== refused.agent)) return;
  // An older bridge does not say which agent it means.
  const isThisAgent = frame.agent !== undefined || !refused.flags.any?.tried.length;
  if (!isThisAgent) return ledgerOf(home).markAccepted(id);
  const why = OF_ONE_AGENT[code];
  const call = why === undefined ? refused : await tryNext(home, refused, "refused", why);
  if (!call) return;
  // An earlier bridge may have published it. Only the device knows, and reports it when it is back.
  if (call.sends > 1) return ledgerOf(home).markAccepted(id);
  const text = `Error: Agent '${call.agent}' could not be asked: ${message}. Nothing was run.`;
  await settleByGateway(home, call, {
    status: "error",
    errorType: REFUSAL_TYPES[code],
    text,
    advice: "Tell the user, or try another way.",
    ...(retry_after_ms !== undefined && { retryAfterS: Math.ceil(retry_after_ms / 1_000) }),
    sources: sourcesOf(home, call.agent),
    elapsedMs: Date.now() - call.createdAt,
  });
}

/** The reason may be the agent's own: why it went offline. */
function sourcesOf(home: HomeContext, agent: string): Source[] {
  return hostedDevicesOf(home).isPlain(agent) ? [] : [agentSource(agent)];
}
