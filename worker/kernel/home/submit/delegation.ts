/**
 * Calls that an agent asks for in the middle of its own call, by the event `call`. Each is a call like any other, with the
 * agent as its asker: it has the person, the limits and the conversation of the agent's own call, and always counts as tainted, since
 * it is another device's words.
 */

import { type AgentEvent, CHAIN_MAX, type Chain } from "@edgecall/core/protocol/mqtt.ts";
import type { Advised } from "@edgecall/core/tools/advice.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import { checkEdgeCall, FIND_AGENTS } from "../../api/edge-call.ts";
import { isHomeTool } from "../../api/home-tools.ts";
import { AFTER_EXPIRY_MS } from "../../api/questions.ts";
import { keysOf } from "../agents/agent-keys.ts";
import { answerAgent, sendCalled } from "../calls/answer-agent.ts";
import { stop } from "../calls/dispatch.ts";
import { agentWaitsOf, isWaiting, openInCall, pauseDeadline, pauseParent } from "../calls/waits.ts";
import type { HomeContext } from "../context.ts";
import { featuresOf } from "../feature.ts";
import { idInConversation, JOB, type LedgerCall, ledgerOf } from "../ledger/ledger.ts";
import { closeQuestions } from "../questions/approvals.ts";
import { traceForDelegated } from "../trace.ts";
import { runAgentsTool } from "./agent-tools.ts";
import { submit } from "./submit.ts";

/** Calls that agents ask for: open ones of one call, all of one call, and open ones of one device. */
const OPEN_A_CALL = 5;
const MOST_A_CALL = 20;
const OPEN_A_DEVICE = 20;

/** JSON of the arguments. With its signature, the event passes the broker. */
const ARGS_MAX_CHARS = 48 * 1024;

type CallEvent = AgentEvent & { type: "call" };

/** An agent asks. It repeats the event until it has the outcome. @param parent its own call, which may be over */
export async function onAgentCall(home: HomeContext, parent: LedgerCall, event: CallEvent): Promise<void> {
  const ledger = ledgerOf(home);
  const known = ledger.get(event.call_id);
  // The wait of a call that is over needs no bound: it is answered.
  const isRepeated = !parent.outcome && agentWaitsOf(home).get(event.call_id)?.parent === parent.id;
  const refusal = known ? foreignId(known, parent) : isRepeated ? undefined : refusalOf(home, parent, event);
  if (refusal) return await sendCalled(home, parent.agent, event.call_id, refusal);
  // It does not have the outcome yet, or there is none.
  if (known?.outcome) return void (await answerAgent(home, known, known.outcome));
  if (known) return pauseParent(home, known.id);
  keysOf(home).storeCounters(parent.agent);
  const wasWaiting = isWaiting(home, parent);
  if (!isRepeated) ledger.countDelegated(parent);
  const outcome = await runEvent(home, parent, event);
  if (outcome) return await sendCalled(home, parent.agent, event.call_id, outcome);
  const child = ledger.get(event.call_id);
  const waits = ledger.get(parent.id);
  // It may have ended meanwhile.
  if (child && !child.outcome && waits && !waits.outcome)
    pauseDeadline(home, waits, child.endsAt + AFTER_EXPIRY_MS, wasWaiting);
}

function foreignId({ asker }: LedgerCall, parent: LedgerCall): SettledOutcome | undefined {
  const isIts = asker?.by === "agent" && asker.call === parent.id && asker.agent === parent.agent;
  return isIts ? undefined : notRun("invalid_params", "That id is in use.");
}

/** Returns a refusal of the request itself. It is answered, and not recorded: a device must not fill the record. */
function refusalOf(home: HomeContext, parent: LedgerCall, event: CallEvent): SettledOutcome | undefined {
  const { agent, flags, command, outcome } = parent;
  if (outcome) return notRun("execution_failed", "The call that this belongs to has ended.");
  // Whoever has the broker's password may send as an agent without a key.
  if (keysOf(home).standing(agent) !== "signed")
    return notRun(
      "permission_denied",
      `Agent '${agent}' has no key on record, so it cannot call other agents.`,
    );
  if (command === JOB) return notRun("permission_denied", "A job cannot call other agents.");
  // Only a question in words runs the agent's own model.
  if (command !== "prompt")
    return notRun("permission_denied", "Only an agent that was asked in words can call other agents.");
  if (JSON.stringify(event.args).length > ARGS_MAX_CHARS)
    return notRun("invalid_params", `The arguments are larger than ${ARGS_MAX_CHARS / 1_024} KiB.`);
  const open = openInCall(home, parent.id);
  if (open >= OPEN_A_CALL) return tooMany(`${open} calls of this call are open already.`);
  if ((flags.delegates ?? 0) >= MOST_A_CALL)
    return notRun(
      "permission_denied",
      `This call has called other agents ${MOST_A_CALL} times, which is the most.`,
    );
  const byDevice = ledgerOf(home)
    .delegated()
    .filter(({ asker }) => asker?.by === "agent" && asker.agent === agent).length;
  return byDevice >= OPEN_A_DEVICE
    ? tooMany(`${byDevice} calls of this device are open already.`)
    : undefined;
}

/** @returns the outcome of a call that is not sent to an agent. Undefined: it was, or its agent waits for a session and asks again */
async function runEvent(
  home: HomeContext,
  parent: LedgerCall,
  event: CallEvent,
): Promise<SettledOutcome | undefined> {
  const { call_id: id, name, args } = event;
  if (isHomeTool(featuresOf(home), name)) return await runAgentsTool(home, parent, name, event);
  const checked = checkEdgeCall({ id, modelCallId: id, name, args }, [FIND_AGENTS]);
  if (!checked.ok) return checked.outcome;
  const chain = nextChain(parent);
  const refusal = chainRefusal(chain, checked.args.agent_id);
  if (refusal) return refusal;
  const { conversation, caller, agent, flags } = parent;
  const request = {
    id,
    conversation,
    args: checked.args,
    caller: { ...caller, chain },
    watched: flags.watch === true,
    tainted: true,
    limits: flags.limits ?? {},
    language: flags.language,
    turn: flags.turn,
    ...traceForDelegated(parent, event.traceparent),
  };
  const reply = await submit(home, request, { by: "agent", agent, call: parent.id });
  return reply.accepted ? undefined : reply.outcome;
}

/** Home's own row of the parent says how deep a chain is, never the agent. */
function nextChain(parent: LedgerCall): Chain {
  const { caller, agent } = parent;
  return { id: idInConversation(parent), via: [...(caller.chain?.via ?? []), agent] };
}

function chainRefusal({ via }: Chain, to: string): SettledOutcome | undefined {
  const steps = [...via, to].join(" → ");
  if (via.includes(to))
    return notRun(
      "permission_denied",
      `Agent '${to}' is in this chain of calls already (${steps}): a call may not come back.`,
    );
  if (via.length > CHAIN_MAX)
    return notRun(
      "permission_denied",
      `This chain of calls has ${CHAIN_MAX} steps already (${via.join(" → ")}), which is the most.`,
    );
  return undefined;
}

function tooMany(why: string): SettledOutcome {
  return notRun("execution_failed", why, "Wait for one, then try again.");
}

function notRun(errorType: ErrorType, why: string, advice = "Explain this in your answer."): SettledOutcome {
  const words: Advised = { text: `Error: ${why} Nothing was run.`, advice };
  return { status: "error", errorType, ...words, elapsedMs: 0, sources: [], unsent: true };
}

/** At once, when a call has ended whose agent asked for others: nobody wants their outcomes. */
export function nextDue(home: HomeContext, now: number): number | undefined {
  return orphans(home).length > 0 ? now : undefined;
}

export async function onAlarm(home: HomeContext, now: number): Promise<void> {
  // Each that ends may leave others.
  for (let calls = orphans(home); calls.length > 0; calls = orphans(home)) {
    for (const call of calls) {
      await stop(home, call, now);
      await closeQuestions(home, call.id);
    }
  }
}

function orphans(home: HomeContext): LedgerCall[] {
  return ledgerOf(home)
    .delegated()
    .filter(({ asker }) => {
      const parent = asker?.by === "agent" ? ledgerOf(home).get(asker.call) : undefined;
      return !parent || parent.outcome !== undefined;
    });
}
