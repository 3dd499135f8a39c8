/** Calls are sent, most of them without a row, and sent again when the bridge or an agent comes back. */

import { TAKEN_WITHIN_MS } from "@edgecall/core/protocol/names.ts";
import { UPDATE_ACTION } from "@edgecall/core/protocol/versions.ts";
import type { Advised } from "@edgecall/core/tools/advice.ts";
import { type ErrorType, errorText } from "@edgecall/core/tools/errors.ts";
import { isLent } from "../../api/agent-ids.ts";
import type { CancelledCall, SettledOutcome, SubmitRequest } from "../../api/calls.ts";
import { type AgentCommand, type CallTarget, FIND_AGENTS, PROMPT_MAX_MS } from "../../api/edge-call.ts";
import { ago } from "../../api/roster.ts";
import { logInfo } from "../../log.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import type { HomeRoster } from "../agents/home-roster.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import { servedAgentsOf } from "../agents/served-agents.ts";
import { NO_AGENT } from "../audit/audit-lines.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import type { HomeContext } from "../context.ts";
import {
  type CallFlags,
  idInConversation,
  JOB,
  type LedgerCall,
  ledgerOf,
  type NewCall,
  type NextAgent,
  OPEN_MAX,
} from "../ledger/ledger.ts";
import { questionsOf } from "../ledger/questions.ts";
import { traceForBridge } from "../trace.ts";
import { acksOf } from "./acks.ts";
import { encodeCommand, GATEWAY_CALLER, sendCancel, sendNotice } from "./commands.ts";
import { armInFlightTimer } from "./in-flight-rows.ts";
import { noteSettled, settleByGateway } from "./outcome-delivery.ts";
import { offText, outdated } from "./permission.ts";
import { sealReturnAddress } from "./return-address.ts";

/** Each hop inwards gets a little less than the one outside it, so that the inner answer arrives first. */
const BRIDGE_MARGIN_MS = 2_000;
const AGENT_MARGIN_MS = 4_000;

/** `target`: the agent is known, but not online. */
export type Unreachable = Advised & { ok: false; errorType: ErrorType; target?: CallTarget };
export type Reachable = { ok: true; target: CallTarget } | Unreachable;

/**
 * The agent, if it can be called right now; else why not, in words.
 * @param action the tool to be called; undefined: the agent is to do something else
 */
export function reach(home: HomeContext, agentId: string, action: unknown): Reachable {
  const now = Date.now();
  const off = offText(hostedDevicesOf(home).get(agentId));
  if (off) return { ok: false, errorType: "permission_denied", ...off };
  const target = rosterOf(home).target(agentId, now);
  if (!target) {
    return { ok: false, errorType: "not_found", ...notFound(rosterOf(home), agentId, now) };
  }
  // Of an agent at a lender, this home has only a copy of what was true a while ago.
  if (!target.online && !target.lent) {
    const why = target.reason ? `, ${target.reason}` : "";
    return {
      ok: false,
      target,
      errorType: "offline",
      ...errorText.offline(agentId, `${ago(target.lastSeen, now)}${why}`),
    };
  }
  if (ledgerOf(home).isFull(agentId)) {
    return {
      ok: false,
      errorType: "execution_failed",
      text: `Error: Agent '${agentId}' was not called: ${OPEN_MAX} calls to it are open already. Nothing was run.`,
      advice: "Try again later or explain to the user.",
    };
  }
  // It might misread the call, or its answer might be misread; "done" has to be true.
  if (target.incompatibleWith !== undefined && action !== UPDATE_ACTION) {
    return {
      ok: false,
      errorType: "execution_failed",
      text: `Error: Agent '${agentId}' was not called: its program does not fit this gateway (${target.incompatibleWith}). Nothing was run.`,
      advice: "Explain this to the user.",
    };
  }
  return { ok: true, target };
}

/** Ids that are written almost like it, or mean the same; in a home where none does, the few that there are. */
function notFound(roster: HomeRoster, agentId: string, now: number): Advised {
  const text = `Error: Agent '${agentId}' not found.`;
  const near = roster.closestIds(agentId);
  if (near.length > 0)
    return {
      text: `${text} Agents with an id like it: ${roster.withNames(near).join(", ")}.`,
      advice: "Please choose one of them or explain to the user.",
    };
  const online = roster.onlineIfFew(now);
  if (!online) return { text, advice: `Find its id with ${FIND_AGENTS} or explain to the user.` };
  return {
    text: `${text} Online agents: ${roster.withNames(online).join(", ") || "none"}.`,
    advice: "Please choose one of them or explain to the user.",
  };
}

/** @property deadline epoch ms @property outcome absent: it has not come yet, and the call is stored */
export type Dispatched = { deadline: number; outcome?: SettledOutcome | undefined };

/** Sends a call, and stores it first unless it may fly. */
export async function dispatch(home: HomeContext, call: NewCall): Promise<Dispatched> {
  if (isLent(call.agent)) return await storeForLender(home, call);
  return maySendWithoutRow(home, call) ? await launch(home, call) : await storeAndSend(home, call);
}

/**
 * Sends a call that an earlier life of this object may have sent without a row. The agent's ledger recognises it. It counts
 * as sent twice, so that no refusal of the bridge, which knows only this time, is taken for "nothing was run".
 */
export async function dispatchAgain(home: HomeContext, call: NewCall): Promise<Dispatched> {
  return await storeAndSend(home, call, 2);
}

async function storeAndSend(home: HomeContext, call: NewCall, sends = 1): Promise<Dispatched> {
  const now = Date.now();
  const stored = ledgerOf(home).add(call, ledgerOf(home).nextN(now), "sent", now, sends);
  // Row and alarm are one write, so the alarm comes before anything that is awaited.
  const armed = home.alarm.wakeBy(Math.min(stored.deadline, now + TAKEN_WITHIN_MS));
  await send(home, stored, now);
  await armed;
  return { deadline: stored.endsAt };
}

/**
 * The call goes to another agent, since the one before has certainly not run it.
 * @param states those in which that is certain
 * @returns false: something happened to it meanwhile, and nothing was sent
 */
export async function sendElsewhere(
  home: HomeContext,
  call: LedgerCall,
  states: readonly LedgerCall["state"][],
  to: NextAgent,
): Promise<boolean> {
  const now = Date.now();
  const moved = ledgerOf(home).reassign(call, states, to, ledgerOf(home).nextN(now), now);
  if (!moved) return false;
  const armed = home.alarm.wakeBy(Math.min(moved.deadline, now + TAKEN_WITHIN_MS));
  await send(home, moved, now);
  await armed;
  return true;
}

/** The alarm, at once, sends it to the lender (peers/lender-calls.ts). */
async function storeForLender(home: HomeContext, call: NewCall): Promise<Dispatched> {
  const { alarm } = home;
  const now = Date.now();
  const stored = ledgerOf(home).add(call, ledgerOf(home).nextN(now), "waiting", now);
  await alarm.wakeBy(now);
  return { deadline: stored.endsAt };
}

/** A call that a conversation waits for, to an agent whose ledger recognises it and whose report brings its route back. */
function maySendWithoutRow(home: HomeContext, { conversation, agent, asker, flags }: NewCall): boolean {
  // A Home that forgot whom it chose would choose again, and another agent would run the call too.
  if (flags?.any) return false;
  return conversation !== null && asker === undefined && returnsRoutes(home, agent);
}

/** True if an earlier life of this object may have sent the call without a row. */
export function mayHaveBeenSent(home: HomeContext, { sentBefore, args }: SubmitRequest): boolean {
  return sentBefore === true && returnsRoutes(home, args.agent_id);
}

/** An agent that cannot ask a person by itself is asked for by Home, and what waits for a person has a row. */
function returnsRoutes(home: HomeContext, agent: string): boolean {
  return agentRowsOf(home).features(agent).includes("route") && agentRowsOf(home).canAsk(agent);
}

/** Sends a call without a row. It returns when the call has its outcome, or a row after all. */
async function launch(home: HomeContext, call: NewCall): Promise<Dispatched> {
  const ledger = ledgerOf(home);
  const now = Date.now();
  const flight = ledger.launch(call, ledger.nextN(now), now);
  armInFlightTimer(home);
  await send(home, flight, now);
  // The bridge went this very moment, so the call has a row.
  if (!ledger.inFlight.get(flight.id)) await home.alarm.arm();
  return { deadline: flight.endsAt, outcome: await ledger.inFlight.ended(flight.id) };
}

/** Stores a call whose agent is offline. It is sent when the agent comes, within `forMs`. The conversation goes on. */
export async function queue(home: HomeContext, call: NewCall, forMs: number): Promise<void> {
  const now = Date.now();
  const flags = { ...call.flags, queued: true };
  const n = ledgerOf(home).nextN(now);
  const stored = ledgerOf(home).add({ ...call, flags, lateFor: call.id }, n, "waiting", now);
  ledgerOf(home).postpone(stored.id, now + forMs);
  await home.alarm.arm();
}

/** Stores a call that a person has to approve first. Its question belongs into the same write. */
export function holdForApproval(home: HomeContext, call: NewCall): LedgerCall {
  const now = Date.now();
  const lateFor = call.flags?.queued ? { lateFor: call.id } : {};
  return ledgerOf(home).add({ ...call, ...lateFor }, ledgerOf(home).nextN(now), "asking", now);
}

/** Ends a change of a hosted device that is not what it was when the change was decided. @returns false: it may go on */
export async function settleOutdated(home: HomeContext, call: LedgerCall): Promise<boolean> {
  const why = outdated(home, call);
  if (!why) return false;
  const elapsedMs = Date.now() - call.createdAt;
  await settleByGateway(home, call, {
    status: "error",
    errorType: "permission_denied",
    ...why,
    elapsedMs,
    sources: [],
  });
  return true;
}

/** A person approved the call: its time starts now, or it waits for its agent for as long as it may. */
export async function releaseApproved(home: HomeContext, call: LedgerCall): Promise<void> {
  const now = Date.now();
  if (waitsForAgent(home, call, now)) ledgerOf(home).waitForAgent(call.id, call.endsAt);
  else await sendAnew(home, call, now);
  await home.alarm.arm();
}

/**
 * Stores an agent's own work, which the agent accepted and will report under this token.
 * @returns false: its agent has too many open rows, so the job's result will not arrive
 */
export async function expectJob(
  home: HomeContext,
  token: string,
  call: LedgerCall,
  withinMs: number,
  flags?: CallFlags,
): Promise<boolean> {
  const ledger = ledgerOf(home);
  const known = ledger.get(token);
  const now = Date.now();
  if (known?.flags.early && known.payload.call === call.id) {
    ledger.markAnnounced(token);
    if (known.outcome) noteSettled(home, known, known.outcome, now);
  }
  if (known) return true;
  if (ledger.isFull(call.agent)) {
    logInfo("job.too_many", { agent: call.agent, job: token });
    return false;
  }
  const order: AgentCommand = {
    command: JOB,
    payload: { call: call.id, tool: call.payload.tool },
    silenceMs: withinMs,
    totalMs: withinMs,
    idempotent: false,
  };
  const { conversation, agent, caller, asker } = call;
  const { delegates, any } = call.flags;
  const job: NewCall = {
    id: token,
    conversation,
    agent,
    caller,
    order,
    lateFor: idInConversation(call),
    // Another home gets the job's result under the job's own token.
    ...(asker?.by === "home" && { asker: { ...asker, call: token } }),
    // Its program may work with what other agents answered.
    flags: { ...flags, ...(delegates !== undefined && { delegates }), ...(any && { any }) },
  };
  ledger.add(job, ledger.nextN(now), "taken", now);
  await home.alarm.arm();
  return true;
}

/** Sends the open calls once more, after the bridge or these agents came back. @param agents undefined: all */
export async function resend(home: HomeContext, agents: readonly string[] | undefined): Promise<void> {
  const now = Date.now();
  // Many agents may come back at once, and few of them have open calls.
  const [only] = agents?.length === 1 ? agents : [];
  const these = agents && new Set(agents);
  for (const call of ledgerOf(home).open(only)) {
    if (these?.has(call.agent) === false) continue;
    if (call.state === "asking" || call.command === JOB || isLent(call.agent)) continue;
    // One without a ledger never gets again what it may have got once.
    if (hostedDevicesOf(home).isForgetful(call.agent) && call.state !== "waiting") continue;
    if (await settleOutdated(home, call)) continue;
    if (call.endsAt - now <= AGENT_MARGIN_MS) continue;
    if (waitsForAgent(home, call, now) || isHeldBack(home, call, now)) continue;
    await sendAnew(home, call, now);
  }
}

/** Sends a call once more, or for the first time when it had to wait: then its time starts now. */
async function sendAnew(home: HomeContext, call: LedgerCall, now: number): Promise<void> {
  const ledger = ledgerOf(home);
  const n = ledger.nextN(now);
  const waited = call.state === "asking" || call.state === "waiting";
  const endsAt = waited ? now + runTimeOf(home, call) : call.endsAt;
  if (waited) ledger.restart(call.id, endsAt - now, now);
  ledger.markSent(call.id, n, now);
  await send(home, { ...call, n, endsAt }, now);
}

/** How long a call may take once it is on its way. */
function runTimeOf(home: HomeContext, call: LedgerCall): number {
  const isPrompt = call.command === "prompt" && !agentRowsOf(home).isForeign(call.agent);
  return isPrompt ? PROMPT_MAX_MS : call.silenceMs;
}

async function send(home: HomeContext, call: LedgerCall, now: number): Promise<void> {
  const left = call.endsAt - now;
  const route = ledgerOf(home).inFlight.get(call.id) && (await sealReturnAddress(home, call));
  const command = { ...call, route, acks: acksOf(home).drain(call.agent) };
  const payload = await encodeCommand(home, command, left - AGENT_MARGIN_MS, now);
  const frame = {
    t: "call",
    id: call.id,
    agent: call.agent,
    payload,
    expires_in_ms: Math.max(0, left - BRIDGE_MARGIN_MS),
    ...(call.flags.device && { allow: call.flags.device.allow }),
    ...traceForBridge(call),
  } as const;
  // If the bridge went this very moment, it gets the call when it comes back.
  if (!bridgeOf(home).send(frame, now)) ledgerOf(home).markUnsent(call.id);
}

/** A queued call waits for its agent, and for a program that fits. Any other call is left to the bridge's judgement. */
function waitsForAgent(home: HomeContext, { agent, flags }: LedgerCall, now: number): boolean {
  if (!flags.queued) return false;
  const target = servedAgentsOf(home).target(agent, now);
  return !target?.online || target.incompatibleWith !== undefined;
}

/** True if the agent is there and was to ask a person, but cannot ask by its present advert, or has not sent one yet. */
export function isHeldBack(home: HomeContext, call: LedgerCall, now: number): boolean {
  return call.flags.asks === true && !agentRowsOf(home).canAsk(call.agent) && !waitsForAgent(home, call, now);
}

/**
 * Tells the devices to stop.
 * @param conversation whose calls they are; null: of another home
 * @returns those that were sent: what they did until now is unknown
 */
export async function cancelCalls(
  home: HomeContext,
  calls: readonly CancelledCall[],
  conversation: string | null,
): Promise<string[]> {
  const now = Date.now();
  const sent: string[] = [];
  for (const cancelled of calls) {
    if (ledgerOf(home).inFlight.wasAnswered(cancelled.id)) {
      sent.push(cancelled.id);
      continue;
    }
    const call = ledgerOf(home).get(cancelled.id) ?? addUnknown(home, cancelled, conversation, now);
    if (call.outcome !== undefined || (await stop(home, call, now))) sent.push(call.id);
  }
  return sent;
}

/** Whoever asked for the call does not want it any more, and gets no outcome. @returns true if it may have run */
export async function stop(home: HomeContext, call: LedgerCall, now: number): Promise<boolean> {
  const sent = call.state === "sent" || call.state === "taken";
  // A tool that waits for its own approval has done nothing. A tool that runs others may have, before one of them asked.
  const isHeld = call.command === "tool" && questionsOf(home).asksFor(call.id, call.payload.tool);
  const mayHaveRun = sent && !isHeld;
  const text = mayHaveRun
    ? "Cancelled while the device was at it: it may or may not have run."
    : "Cancelled. Nothing was run.";
  const errorType = mayHaveRun ? "outcome_unknown" : "execution_failed";
  const elapsedMs = now - call.createdAt;
  const unsent = !sent && { unsent: true as const };
  const outcome: SettledOutcome = { status: "error", errorType, text, elapsedMs, sources: [], ...unsent };
  // The conversation that cancels knows already, so the outcome counts as delivered.
  if (ledgerOf(home).settle(call.id, outcome, true, now)) noteSettled(home, call, outcome, now);
  if (sent) await sendCancel(home, call);
  return mayHaveRun;
}

/**
 * A call that is cancelled before it got here must not start when it arrives. One that an earlier life of this object may
 * have sent is cancelled at its agent.
 */
function addUnknown(
  home: HomeContext,
  { id, sentTo = NO_AGENT }: CancelledCall,
  conversation: string | null,
  now: number,
): LedgerCall {
  const order: AgentCommand = {
    command: "cancelled",
    payload: {},
    silenceMs: 1,
    totalMs: 1,
    idempotent: true,
  };
  const agent = returnsRoutes(home, sentTo) ? sentTo : NO_AGENT;
  const call = { id, conversation, agent, caller: GATEWAY_CALLER, order };
  return ledgerOf(home).add(call, 0, agent === NO_AGENT ? "waiting" : "sent", now);
}

/** Somebody watches these calls from now on. */
export async function watchCalls(home: HomeContext, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const call = ledgerOf(home).get(id);
    if (!call || call.outcome) continue;
    if (!call.flags.watch) ledgerOf(home).markWatched(id);
    await sendNotice(home, call, "watch", { request_id: id });
  }
}
