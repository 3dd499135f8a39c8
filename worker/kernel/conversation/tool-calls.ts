/**
 * The step of a turn that makes its calls. It never waits for a device: Home takes the calls, and brings their results
 * (results.ts). The gateway's own tools run here (tools/gateway-calls.ts), and the step waits for them.
 */
import { type Waiting, waitingOf } from "@edgecall/core/loop/dependencies.ts";
import type { Outcome } from "@edgecall/core/loop/history.ts";
import { MAX_ATTEMPTS } from "@edgecall/core/loop/retry.ts";
import { isTainted, type Source, STRANGER, taints } from "@edgecall/core/loop/taint.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import type { TurnQuestion } from "../api/answers.ts";
import type { CancelledCall, ReplyOfCalls } from "../api/calls.ts";
import { checkEdgeCall, EDGE_CALL, FIND_AGENTS } from "../api/edge-call.ts";
import { homeToolParameters, isHomeTool, toolsWith } from "../api/home-tools.ts";
import { withRetry } from "../api/stubs.ts";
import { logError, logInfo } from "../log.ts";
import { keysOf } from "../settings/gateway-tools.ts";
import type { Settings } from "../settings/settings.ts";
import { askHome, languageOf } from "./ask-home.ts";
import { sourcesFor } from "./client-context.ts";
import { clientSchema, isClients } from "./client-tools.ts";
import type { ConversationContext } from "./context.ts";
import { featuresOf, offeredTools } from "./feature.ts";
import { askedOf } from "./planned.ts";
import { applyResult, settleCall } from "./settle-call.ts";
import { slot } from "./slot.ts";
import type { StoredCall, StoredEntry, Turn } from "./store/rows.ts";
import { cancelledOutcome } from "./texts.ts";
import { runGatewayCalls, runningCallsOf } from "./tools/gateway-calls.ts";
import { gatewayTools } from "./tools/registry.ts";
import { traceOfCall } from "./trace.ts";

/** A conversation asks for a call itself this long after Home should have settled it: Home's answer should win. */
const DEADLINE_GRACE_MS = 10_000;
/** Pause before Home is asked again after it failed (a deploy resets it for a moment). */
export const HOME_RETRY_MS = 1_000;

/** Calls whose outcomes came with the reply to `submit`: Home is told with the next request that they are stored. */
const answeredOf = slot((): string[] => []);

/** Those that Home is told of now. One whose row could not be written has no outcome any more, and is submitted again. */
export function drainConfirmed(context: ConversationContext): string[] {
  const answered = answeredOf(context).splice(0);
  return answered.filter((id) => context.transcript.call(id)?.outcome !== undefined);
}

/** Sends calls out, at most `maxParallel` at once. @returns as `runStep`: a result or a deadline is waited for, or not */
export async function runCallStep(
  context: ConversationContext,
  turn: Turn,
  history: readonly StoredEntry[],
  settings: Settings,
): Promise<number | undefined> {
  const { transcript, sent } = context;
  const now = Date.now();
  const open = ownCalls(turn, openCalls(history.filter((entry) => entry.turn === turn.n)));
  const out = open.filter((call) => sent.has(call.id));
  const overdue = out.filter((call) => dueAt(context, call) <= now);
  const asking = askingCalls(context, turn);
  // What waits for a person takes no room: all that has to be approved is asked for together.
  const busy = out.filter(({ id }) => !asking.has(id));
  const room = Math.max(0, settings.limits.maxParallel - busy.length);
  const batch = batchOf(turn, history);
  const unsent = open.filter((call) => !sent.has(call.id));
  for (const call of unsent) endUnrun(context, call, waitingFor(context, call, batch));
  const due = [...readyOf(context, unsent, batch).slice(0, room), ...readyOf(context, overdue, batch)];
  if (due.length > 0) await sendCalls(context, turn, { due, batch }, history, settings);
  const left = ownCalls(turn, openCalls(transcript.entriesOf(turn.n)));
  // Something was settled on the spot: there is room for another call, or the batch is complete.
  if (left.length < open.length) return undefined;
  const deadlines = left.filter((call) => sent.has(call.id)).map((call) => dueAt(context, call));
  const retryAt = transcript.turn(turn.id)?.notBefore ?? 0;
  if (retryAt > now) deadlines.push(retryAt);
  // Home may be late itself: it is asked again, but not at once for ever.
  return Math.max(Math.min(...deadlines), now + HOME_RETRY_MS);
}

/** True if a turn with open calls has nothing to do before the next of them has its result. */
export function waitsForCalls({ transcript, sent }: ConversationContext, turn: Turn): boolean {
  const open = ownCalls(turn, openCalls(transcript.entriesOf(turn.n)));
  return open.length > 0 && open.every((call) => sent.has(call.id));
}

/** Ends the calls of a turn, also those that the loop sends meanwhile. @returns how many a device may have run */
export async function cancelCalls(context: ConversationContext, turn: Turn): Promise<number> {
  const sent = new Set<string>();
  const stopped = new Set<string>();
  const open = () => openCalls(context.transcript.entriesOf(turn.n));
  for (const { id } of open()) runningCallsOf(context).get(id)?.abort(cancelled());
  const unstopped = () => open().filter(({ id, name }) => name === EDGE_CALL && !stopped.has(id));
  for (let calls = unstopped(); calls.length > 0; calls = unstopped()) {
    for (const id of await stopCalls(context, turn, calls)) sent.add(id);
    for (const { id } of calls) stopped.add(id);
  }
  for (const call of open()) {
    const ended = await toolsWith(featuresOf(context), call.name)?.cancel?.(context, call);
    settleCall(context, call.id, ended ?? cancelledOutcome(sent.has(call.id)));
  }
  return sent.size;
}

/** A person is asked: the call cannot be over before `until` (epoch ms). */
export function extendCall({ sent }: ConversationContext, callId: string, until: number): void {
  sent.set(callId, { at: Date.now(), ...sent.get(callId), deadline: until, asks: true });
}

/** The person has answered, and the call goes on. */
export function resumeCall({ sent }: ConversationContext, callId: string): void {
  const out = sent.get(callId);
  if (out) sent.set(callId, { deadline: out.deadline, at: out.at });
}

/** A client came to watch after the calls were sent: from now on devices send their output. */
export async function watchCalls(context: ConversationContext, turn: Turn): Promise<void> {
  const ids = openCalls(context.transcript.entriesOf(turn.n)).map((call) => call.id);
  const out = ids.filter((id) => context.sent.has(id));
  if (out.length > 0) await context.home().calls.watch(out);
}

/** The time at which Home is asked for the outcome of a call (epoch ms). */
function dueAt(context: ConversationContext, call: StoredCall): number {
  // Nobody settles a call that waits for a session: Home says at its deadline that it goes on.
  const grace = isHomeTool(featuresOf(context), call.name) ? 0 : DEADLINE_GRACE_MS;
  return (context.sent.get(call.id)?.deadline ?? 0) + grace;
}

/** The calls of the last reply that run here, which a call may come after. */
function batchOf(turn: Turn, entries: readonly StoredEntry[]): StoredCall[] {
  const asked = entries.findLast((entry) => entry.role === "assistant" && entry.turn === turn.n);
  return asked?.role === "assistant" ? asked.calls.filter((call) => !isClients(turn, call)) : [];
}

function waitingFor(context: ConversationContext, call: StoredCall, batch: readonly StoredCall[]): Waiting {
  return waitingOf(call, batch, (name) => homeToolParameters(featuresOf(context), name));
}

/** The calls that may go out, with the results of others in their arguments: the same ones each time that a call is sent. */
function readyOf(
  context: ConversationContext,
  calls: readonly StoredCall[],
  batch: readonly StoredCall[],
): StoredCall[] {
  return calls.flatMap((call) => {
    const waiting = waitingFor(context, call, batch);
    return waiting.state === "ready" ? [{ ...call, args: waiting.args }] : [];
  });
}

/** Answers a call that never runs, because of what it depends on. */
function endUnrun(context: ConversationContext, call: StoredCall, waiting: Waiting): void {
  if (waiting.state !== "ended") return;
  const { errorType, words } = waiting;
  settleCall(context, call.id, {
    status: "error",
    errorType,
    ...words,
    elapsedMs: 0,
    sources: [],
    unsent: true,
  });
}

/** The calls that a question is about, in a session's parent the call that began the session too. */
export function callsOf({ call, members }: Pick<TurnQuestion, "call" | "members">): string[] {
  return [...new Set([call, ...(members ?? []).map((one) => one.call)])];
}

/** The calls of a turn for which a person is asked. After a rebuild the question's row says so. */
function askingCalls({ transcript, sent }: ConversationContext, turn: Turn): Set<string> {
  const asked = transcript
    .questionsOf(turn.n)
    .filter(({ question }) => question.answer === undefined)
    .flatMap(({ question }) => callsOf(question));
  const known = [...sent].filter(([, { asks }]) => asks).map(([id]) => id);
  return new Set([...asked, ...known]);
}

/** The calls of a reply that Home is given, when there are several. */
function replyOf(
  context: ConversationContext,
  batch: readonly StoredCall[],
  asks: string | undefined,
): ReplyOfCalls | undefined {
  const [first] = batch;
  // One that was too many for the reply was answered with it.
  const isGiven = ({ outcome, settledAt }: StoredCall) => outcome === undefined || settledAt !== null;
  const calls = readyOf(context, batch, batch).filter(
    (call) => call.name === EDGE_CALL && isGiven(call) && checkEdgeCall(call).ok,
  );
  // The first call's id names the reply.
  return first && calls.length > 1
    ? { id: first.id, calls: calls.length, ...(asks !== undefined && { asks }) }
    : undefined;
}

/** @param due the calls to send @param batch all calls of their reply */
async function sendCalls(
  context: ConversationContext,
  turn: Turn,
  { due: calls, batch: all }: { due: readonly StoredCall[]; batch: readonly StoredCall[] },
  history: readonly StoredEntry[],
  settings: Settings,
): Promise<void> {
  const { transcript, env, alarm } = context;
  await alarm.lease();
  const sources = sourcesFor(transcript, transcript.turnAt(turn.n) ?? turn);
  const tools = gatewayTools(settings.tools, env);
  const gateways = calls.filter(({ name }) => tools.get(name));
  const batch = {
    turn,
    calls: gateways,
    history,
    tools,
    tainted: isTainted(sources, "gateway"),
    secrets: keysOf(settings.tools),
  };
  const others = calls.filter(({ name }) => !tools.get(name));
  const offered = offeredTools(context, turn, settings).map((own) => ({ tools: own }));
  const names = [
    ...(context.plan?.plan.roster.excerptOf ? [FIND_AGENTS] : []),
    ...offered.flatMap((own) => Object.keys(own.tools.all)),
    ...tools.list(),
  ];
  const last = history.findLast((entry) => entry.role === "assistant" && entry.turn === turn.n);
  const reply = replyOf(context, all, askedOf(last));
  const take = (call: StoredCall) =>
    isHomeTool(offered, call.name) && !isClients(turn, call)
      ? askHome(context, turn, call, toolsWith(offered, call.name), { sources, settings })
      : submitCall(context, turn, call, { sources, names, reply });
  const [refused] = await Promise.all([Promise.all(others.map(take)), runGatewayCalls(context, batch)]);
  const unreached = refused.filter((call) => call !== undefined);
  if (unreached.length > 0) homeFailed(context, turn, unreached);
}

/** Gives one call to Home, or answers it on the spot. @returns the call, when Home did not take it */
async function submitCall(
  context: ConversationContext,
  turn: Turn,
  call: StoredCall,
  {
    sources,
    names,
    reply: of,
  }: { sources: readonly Source[]; names: readonly string[]; reply: ReplyOfCalls | undefined },
): Promise<StoredCall | undefined> {
  const { transcript, name, sent, subscribers } = context;
  if (isClients(turn, call)) {
    const schema = clientSchema(transcript.clientContextOf(turn), call);
    const words = errorText.invalidParams(call.name, call.problem ?? "", schema);
    settleCall(context, call.id, { status: "error", errorType: "invalid_params", ...words, elapsedMs: 0 });
    return undefined;
  }
  const checked = checkEdgeCall(call, names);
  if (!checked.ok) {
    settleCall(context, call.id, { ...checked.outcome, unsent: true });
    return undefined;
  }
  const { principal, role, channel, limits = {} } = turn.origin;
  const agent = checked.args.agent_id;
  const sentBefore = !context.unsent.delete(call.id);
  const at = sent.get(call.id)?.at ?? Date.now();
  // Its result may come before the reply.
  sent.set(call.id, { ...sent.get(call.id), deadline: 0, at });
  try {
    const reply = await context.home().calls.submit({
      id: call.id,
      confirmed: drainConfirmed(context),
      conversation: name,
      args: checked.args,
      caller: { principal, role, channel, conversation: name.split("/").slice(2).join("/") },
      watched: subscribers.isWatched(turn.id),
      limits,
      ...traceOfCall(context, turn, call.id),
      tainted: sources.includes(STRANGER),
      // Home knows which agents are open, and which one a group's call goes to.
      sources: sources.filter((source) => taints(source, { agent })),
      ...(sentBefore && { sentBefore, askedAt: turn.createdAt }),
      ...(of && { reply: of }),
      language: languageOf(context, turn),
      turn: turn.createdAt,
    });
    // These lines have both ids: devices and bridge know the call, and no turn.
    const ids = { turn: turn.id, call: call.id, agent };
    context.noteRosterVersion(reply.rosterVersion);
    if (reply.accepted && reply.outcome) {
      const { status, errorType } = reply.outcome;
      logInfo("call.settled", { ...ids, status, errorType, ms: Date.now() - at });
      const { outcome } = reply;
      await applyResult(context, call.id, outcome, () => mayBeHeld(context, turn, call, outcome));
      answeredOf(context).push(call.id);
      return undefined;
    }
    logInfo("call.submitted", { ...ids, accepted: reply.accepted });
    const out = sent.get(call.id);
    if (!reply.accepted) {
      sent.delete(call.id);
      settleCall(context, call.id, reply.outcome);
    }
    // A question that came before the reply may have set a later deadline.
    else if (out) out.deadline = Math.max(out.deadline, reply.deadline);
    return undefined;
  } catch (error) {
    sent.delete(call.id);
    logError("call.submit_failed", error, { turn: turn.id, call: call.id });
    return call;
  }
}

/**
 * Whether the row of an outcome may wait for the next one of its turn: Home keeps the outcome until it is confirmed. It has to be the last
 * of its reply, since the next call would confirm it, and nobody may see it before it is stored.
 */
function mayBeHeld(context: ConversationContext, turn: Turn, call: StoredCall, outcome: Outcome): boolean {
  const { transcript, subscribers, chat } = context;
  if (chat || outcome.media || outcome.job !== undefined || subscribers.isWatched(turn.id)) return false;
  return openCalls(transcript.entriesOf(turn.n)).every(({ id }) => id === call.id);
}

/** Home is being replaced, or is overloaded: the calls are given to it again, a few times. */
function homeFailed(context: ConversationContext, turn: Turn, calls: readonly StoredCall[]): void {
  const { transcript } = context;
  if (transcript.countAttempt(turn.n) <= MAX_ATTEMPTS) {
    transcript.postpone(turn.n, Date.now() + HOME_RETRY_MS);
    return;
  }
  const unknown: Outcome = {
    status: "error",
    errorType: "outcome_unknown",
    ...errorText.outcomeUnknown("this call"),
    elapsedMs: 0,
    sources: [],
  };
  for (const call of calls) settleCall(context, call.id, unknown);
}

/**
 * Home tells the devices, and keeps back what has not reached it yet. A Home that is being replaced is asked again: it
 * would go on with the calls. @returns those that were sent, or may be
 */
async function stopCalls(
  context: ConversationContext,
  turn: Turn,
  calls: readonly StoredCall[],
): Promise<string[]> {
  const batch = batchOf(turn, context.transcript.entriesOf(turn.n));
  const stopped = calls.map((call): CancelledCall => {
    // A call that waits for another one has not been sent.
    const [ready] = context.unsent.has(call.id) ? [] : readyOf(context, [call], batch);
    const checked = ready && checkEdgeCall(ready, []);
    return { id: call.id, ...(checked?.ok && { sentTo: checked.args.agent_id }) };
  });
  try {
    return await withRetry(async () => await context.home().calls.cancel(stopped, context.name));
  } catch (error) {
    logError("cancel.failed", error, { conversation: context.name });
    return calls.map(({ id }) => id);
  }
}

function cancelled(): DOMException {
  return new DOMException("cancelled", "AbortError");
}

/** Without those that the caller runs. A call that cannot be read is answered here, so that it counts. */
function ownCalls(turn: Turn, calls: StoredCall[]): StoredCall[] {
  return calls.filter((call) => !isClients(turn, call) || call.problem !== undefined);
}

/** A call that is equal to another one of its reply has no course of its own: it is open as long as that one. */
function openCalls(entries: readonly StoredEntry[]): StoredCall[] {
  return entries.flatMap((entry) =>
    entry.role === "assistant"
      ? entry.calls.filter(({ outcome, same }) => outcome === undefined && same === undefined)
      : [],
  );
}
