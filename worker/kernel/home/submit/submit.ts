/** Calls come in: from a conversation's model, and from the API. Each is refused in words, queued, held for a person, or sent. */

import { agentSource, type Source } from "@edgecall/core/loop/taint.ts";
import type { StandingPermission } from "@edgecall/core/permissions/permission.ts";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import { type Advised, asAdvised } from "@edgecall/core/tools/advice.ts";
import { type ErrorType, errorText } from "@edgecall/core/tools/errors.ts";
import { isAgentForm } from "../../api/agent-ids.ts";
import type { CommandRequest, SettledOutcome, SubmitReply, SubmitRequest } from "../../api/calls.ts";
import {
  AGENT_COMMANDS,
  type AgentCommand,
  type AgentCommandResult,
  type CallTarget,
  toAgentCommand,
} from "../../api/edge-call.ts";
import type { Limits } from "../../api/turns.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import { addToAudit } from "../audit/add-to-audit.ts";
import { homeLine, NO_AGENT, type RequestedCall } from "../audit/audit-lines.ts";
import { confirmOutcomes } from "../calls/acks.ts";
import { choose, isRouted } from "../calls/choose-agent.ts";
import {
  type Dispatched,
  dispatch,
  dispatchAgain,
  mayHaveBeenSent,
  queue,
  type Reachable,
  reach,
  type Unreachable,
} from "../calls/dispatch.ts";
import {
  hiddenSetting,
  IS_CHANGE,
  ofStoppedRule,
  type Permission,
  permissionFor,
} from "../calls/permission.ts";
import { shownPayload } from "../calls/shown-payload.ts";
import { type TaintReason, taintReason, taintsOf } from "../calls/taint-reason.ts";
import type { HomeContext } from "../context.ts";
import {
  type ApprovedCall,
  type Asker,
  type CallFlags,
  ledgerOf,
  mayBeForgotten,
  type NewCall,
} from "../ledger/ledger.ts";
import { permissionsOf } from "../permissions/permission-store.ts";
import { prepareStanding, standingFor } from "../permissions/standing.ts";
import { askBeforeSending } from "../questions/approvals.ts";
import { decidedInTurn } from "../questions/decided-before.ts";
import { refuserText } from "../questions/denials.ts";
import { repliesOf } from "../questions/replies.ts";
import { showIfComplete } from "../questions/together.ts";
import { countersOf } from "../usage/usage-counters.ts";

/** Takes a call of `edge_call`, once for each id. @param asker absent: a conversation, or a client */
export async function submit(home: HomeContext, request: SubmitRequest, asker?: Asker): Promise<SubmitReply> {
  const { reply: of } = request;
  const isOut = of && repliesOf(home).add(request.id, of);
  try {
    return await submitOne(home, request, asker);
  } finally {
    isOut?.();
    await showIfComplete(home, of?.id);
  }
}

async function submitOne(
  home: HomeContext,
  request: SubmitRequest,
  asker: Asker | undefined,
): Promise<SubmitReply> {
  await confirmOutcomes(home, request.confirmed);
  await prepareStanding(home, request.args.agent_id, request.args.action);
  const reply = await acceptCall(home, request, asker);
  // A call that was sent is counted when it is settled.
  if (!reply.accepted && !ledgerOf(home).get(request.id)) {
    const { agent_id, action, params, query } = request.args;
    if (request.conversation === null)
      countersOf(home).called(request.id, agent_id, action ?? "prompt", 0, reply.outcome, Date.now());
    const payload = action === undefined ? { prompt: query } : { tool: action, parameters: params ?? {} };
    const command = action === undefined ? "prompt" : "tool";
    // A model may have invented the id; the error's text has it.
    const agent = isAgentForm(agent_id) ? agent_id : NO_AGENT;
    record(home, { id: request.id, agent, command, payload, caller: request.caller }, reply.outcome);
  }
  return reply;
}

/** Home records what no device gets. */
function record(home: HomeContext, call: RequestedCall, outcome: SettledOutcome): void {
  const shown = { ...call, payload: shownPayload(home, call) };
  addToAudit(home, call.agent, call.id, [homeLine(shown, outcome, Date.now())]);
}

async function acceptCall(
  home: HomeContext,
  request: SubmitRequest,
  asker: Asker | undefined,
): Promise<SubmitReply> {
  if (isKnown(home, request.id)) return await knownCall(home, request.id);
  const { agent_id: of } = request.args;
  if (!isRouted(home, of)) return await acceptNamedCall(home, request, asker);
  const { args, caller, limits = {} } = request;
  const { tainted } = taintsOf(home, request, { group: of });
  const wanted = { args, caller, limits, tainted, tried: [] };
  return await choose(home, wanted, async (choice) => {
    // It may have been submitted again, or cancelled, while agents were asked whether they are there.
    if (isKnown(home, request.id)) return await knownCall(home, request.id);
    if (!choice.ok) return refusal(choice.errorType, choice);
    // Without its row it was never sent.
    const { sentBefore: _, ...first } = request;
    const named = { ...first, tainted, args: { ...args, agent_id: choice.target.id } };
    return await acceptNamedCall(home, named, asker, { of, tried: [], why: choice.why });
  });
}

function isKnown(home: HomeContext, id: string): boolean {
  return ledgerOf(home).get(id) !== undefined || ledgerOf(home).inFlight.wasAnswered(id);
}

async function knownCall(home: HomeContext, id: string): Promise<SubmitReply> {
  const known = ledgerOf(home).get(id);
  const { inFlight } = ledgerOf(home);
  if (!known) return accepted({ deadline: Date.now(), outcome: inFlight.held(id) });
  // Its result comes as a message of its own, also if the conversation does not know yet that it was queued.
  if (known.flags.queued)
    return queued(known.id, known.agent, known.deadline - Date.now(), known.state === "asking");
  if (known.outcome) return { accepted: false, outcome: known.outcome };
  return accepted({ deadline: known.endsAt, outcome: await inFlight.ended(known.id) });
}

/** @param any absent: the caller named the agent */
async function acceptNamedCall(
  home: HomeContext,
  request: SubmitRequest,
  asker: Asker | undefined,
  any?: CallFlags["any"],
): Promise<SubmitReply> {
  const { id, conversation, caller, args, watched: watch, limits = {} } = request;
  const { tainted, because } = taintsOf(home, request);
  const settings = readSettings(home.env);
  if (limits.agents && !limits.agents.includes(args.agent_id))
    return refusal("permission_denied", outOfReach(args.agent_id));
  const reached = reach(home, args.agent_id, args.query === undefined ? args.action : undefined);
  // The words about an unknown agent name others, which this caller may not know.
  if (!reached.ok && reached.errorType === "not_found" && limits.agents)
    return refusal("permission_denied", outOfReach(args.agent_id));
  const stopped = ofStoppedRule(home, asker);
  if (stopped) return refusal("permission_denied", stopped);
  const now = Date.now();
  const isUnsure = mayHaveBeenSent(home, request);
  // Whether such a call was run is not known, so it is not refused: it waits for its agent until its deadline.
  const found: Reachable = isUnsure && reached.target ? { ok: true, target: reached.target } : reached;
  // An agent that asked does not wait for days, and no call waits for a hosted device.
  if (!found.ok)
    return asker || found.target?.hosted
      ? refusal(found.errorType, found, found.target)
      : await queueOrRefuse(home, request, found, settings);
  const { target } = found;
  const command = toAgentCommand(args, target, settings);
  if (!command.ok) return isUnsure ? unknown(target) : refusal("invalid_params", command.text, target);
  if (isUnsure && !command.order.idempotent && mayBeForgotten(request.askedAt ?? now, now))
    return unknown(target);
  if (limits.readsOnly && !command.order.readOnly) return refusal("permission_denied", READS_ONLY);
  const permission = ofDevice(home, target, command.order);
  if (permission?.ok === false) return refusal("permission_denied", permission);
  const asked = permission && request.reply?.asks;
  const { program } = request;
  const judged = { ...command.order, agent: target.id, caller, asker, program, conversation, tainted };
  const standing = command.order.readOnly || asked !== undefined ? undefined : standingFor(home, judged, now);
  const ofRule = asker?.by === "rule" ? [`the rule “${asker.name}” asks for it`] : [];
  const reasons = [...ofRule, ...(permission?.reasons ?? []), ...(asked === undefined ? [] : [asked])];
  // Home asks for a hosted device, so here the permission counts. Any other agent judges it by itself.
  const isStanding = permission !== undefined && standing !== undefined;
  const needsPerson = !isStanding && (permission !== undefined || (tainted && !command.order.readOnly));
  // An agent of ours asks by its own policy. For one that cannot ask, Home asks.
  const asks = needsPerson && target.asks;
  const call: NewCall = {
    id,
    conversation,
    caller,
    agent: target.id,
    order: command.order,
    flags: {
      ...(watch && { watch }),
      ...(tainted && { tainted }),
      ...(because.length > 0 && { because }),
      ...(asks && { asks }),
      ...(hasLimits(limits) && { limits }),
      ...(any && { any }),
      ...(request.reply && { reply: request.reply.id }),
      ...(permission && { device: permission.device }),
      ...(standing && { approved: approvedBy(standing) }),
      ...(program !== undefined && { program }),
      ...(request.trace !== undefined && { trace: request.trace }),
      ...(request.language && { language: request.language }),
      ...(request.turn !== undefined && { turn: request.turn }),
    },
    ...(asker && { asker }),
  };
  if (needsPerson && !asks) {
    const { reason, unread } = reasonOf(home, request, { because, target: target.id }, asker);
    const why = [...(tainted ? [reason] : []), ...reasons].join("; ") || IS_CHANGE;
    const { command, payload, idempotent } = call.order;
    const before = decidedInTurn(
      home,
      { conversation, idempotent, flags: call.flags ?? {} },
      await approvalHash(call.agent, command, payload),
    );
    if (before?.answer === "deny")
      return refusal(
        "permission_denied",
        deniedBefore(call.agent, refuserText(home, before, caller.principal)),
      );
    if (before === undefined)
      return accepted({ deadline: await askBeforeSending(home, call, why, tainted ? unread : []) });
    // It may have been submitted again while the hash was made.
    if (isKnown(home, id)) return await knownCall(home, id);
  }
  if (standing) permissionsOf(home).use(standing.id, now);
  return accepted(await (isUnsure ? dispatchAgain : dispatch)(home, call));
}

/** The home's people's word on a call of a hosted device. @returns undefined: the agent is none, or the call is a read */
function ofDevice(home: HomeContext, target: CallTarget, { payload }: AgentCommand): Permission | undefined {
  const device = hostedDevicesOf(home).get(target.id);
  const action = String(payload.tool);
  if (device && hostedDevicesOf(home).isHiddenSetting(target.id, action))
    return hiddenSetting(device, action);
  const advert = target.adverts.find(({ name }) => name === payload.tool);
  return device && permissionFor(home, device, advert);
}

function hasLimits({ readsOnly, agents }: Limits): boolean {
  return readsOnly === true || agents !== undefined;
}

function accepted({ deadline, outcome }: Dispatched): SubmitReply {
  return { accepted: true, deadline, ...(outcome && { outcome }) };
}

/** The agent is offline. A call that may wait for it is queued. */
async function queueOrRefuse(
  home: HomeContext,
  request: SubmitRequest,
  found: Unreachable,
  settings: Settings,
): Promise<SubmitReply> {
  const { target } = found;
  const command = target && toAgentCommand(request.args, target, settings);
  if (!target || !command?.ok || command.order.queueMs === undefined)
    return refusal(found.errorType, found, target);
  const { id, conversation, caller, limits = {} } = request;
  const { tainted, because } = taintsOf(home, request);
  if (limits.readsOnly && !command.order.readOnly) return refusal("permission_denied", READS_ONLY);
  const { queueMs } = command.order;
  const needsPerson = tainted && !command.order.readOnly;
  const isHeld = needsPerson && !target.asks;
  const flags = {
    ...(tainted && { tainted }),
    ...(because.length > 0 && { because }),
    ...(needsPerson && !isHeld && { asks: true }),
    ...(hasLimits(limits) && { limits }),
    ...(request.reply && { reply: request.reply.id }),
    ...(request.trace !== undefined && { trace: request.trace }),
    ...(request.language && { language: request.language }),
    ...(request.turn !== undefined && { turn: request.turn }),
  };
  const call: NewCall = { id, conversation, caller, agent: target.id, order: command.order, flags };
  if (isHeld) {
    const held = { ...call, order: { ...call.order, totalMs: queueMs }, flags: { ...flags, queued: true } };
    const { reason, unread } = reasonOf(home, request, { because, target: target.id });
    await askBeforeSending(home, held, reason, unread);
  } else await queue(home, call, queueMs);
  return queued(id, target.id, queueMs, isHeld);
}

/** Takes one command to one agent, from the API. Its report comes over `/wait?call=`. */
export async function submitCommand(home: HomeContext, request: CommandRequest): Promise<SubmitReply> {
  await prepareStanding(home, request.agent, String(request.order.payload.tool));
  const known = ledgerOf(home).get(request.id);
  if (known?.outcome) return { accepted: false, outcome: known.outcome };
  if (known) return { accepted: true, deadline: known.endsAt };
  const found = reach(home, request.agent, request.order.payload.tool);
  const { target } = found;
  // A foreign agent may know other commands.
  if (!target?.foreign && !AGENT_COMMANDS.has(request.order.command))
    return refusal(
      "invalid_params",
      `command: expected one of ${[...AGENT_COMMANDS].join(", ")}, got '${request.order.command}'; only a foreign agent may take another`,
    );
  if (!found.ok) {
    const refused = refusal(found.errorType, found);
    record(home, { ...request, ...request.order }, refused.outcome);
    return refused;
  }
  const asked = orderFor(found.target, request.order, readSettings(home.env));
  if (!asked.ok) return refusal("invalid_params", asked.text);
  const { order } = asked;
  const { trace } = request;
  const permission = ofDevice(home, found.target, order);
  if (permission?.ok === false) return refusal("permission_denied", permission);
  const now = Date.now();
  const judged = {
    ...order,
    agent: request.agent,
    caller: request.caller,
    conversation: null,
    tainted: false,
  };
  const standing = order.readOnly ? undefined : standingFor(home, judged, now);
  // An owner's press in the console says both what is wanted and that it is approved.
  const isPress = request.pressed === true && permission !== undefined && !permission.isDangerous;
  const pressed = { by: request.caller.principal, at: now, how: "press" };
  const approved = standing ? approvedBy(standing) : isPress ? pressed : undefined;
  const flags = {
    ...(permission && { device: permission.device }),
    ...(approved && { approved }),
    ...(trace !== undefined && { trace }),
  };
  const { agent, caller, id } = request;
  const call: NewCall = { id, agent, caller, order, conversation: null, flags };
  // The program that sends a command is responsible for it, and the device has no policy that would ask.
  if (permission && !approved)
    return accepted({
      deadline: await askBeforeSending(home, call, permission.reasons.join("; ") || IS_CHANGE),
    });
  if (standing) permissionsOf(home).use(standing.id, now);
  return accepted(await dispatch(home, call));
}

function approvedBy({ id, by, at, how }: StandingPermission): ApprovedCall {
  return { by, at, how, permission: id };
}

/** The bridge knows the actions of a hosted device and no other command. Each has its own time. */
function orderFor(target: CallTarget, order: AgentCommand, settings: Settings): AgentCommandResult {
  if (!target.hosted)
    return { ok: true, order: target.foreign ? withForeignTimeout(order, settings) : order };
  const { tool, parameters = {} } = order.payload;
  const action = target.actions.find((name) => name === tool);
  if (order.command === "tool" && action !== undefined && isObject(parameters))
    return toAgentCommand({ agent_id: target.id, action, params: parameters }, target, settings);
  const text = `command: '${target.id}' is a hosted device. It takes 'tool' with the name of an action as payload.tool (${target.actions.join(", ")}), and an object as payload.parameters`;
  return { ok: false, text };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A foreign agent reports nothing while it works and has no time-outs, so all its commands get the same. */
function withForeignTimeout(order: AgentCommand, { foreignTimeoutMs }: Settings): AgentCommand {
  if (typeof order.payload.timeout_ms === "number") return order;
  return { ...order, silenceMs: foreignTimeoutMs, totalMs: foreignTimeoutMs };
}

/** @param asks a person has to approve it first */
function queued(id: string, agent: string, forMs: number, asks: boolean): SubmitReply & { accepted: false } {
  const when = asks
    ? "A person is asked to approve this first. Once approved, the agent gets it"
    : "It gets this";
  const text = `Queued: agent '${agent}' is not online. ${when} as soon as it comes online, within ${duration(forMs)}; the result then arrives as a message of its own. Nothing has run yet.`;
  return {
    accepted: false,
    outcome: { status: "success", text, advice: "Tell the user that.", elapsedMs: 0, job: id, sources: [] },
  };
}

/** @param target the agent whose own words may be in the text: why it is away, what its actions are called; undefined: none */
function refusal(
  errorType: ErrorType,
  words: string | Advised,
  target?: Pick<CallTarget, "id" | "hosted" | "newText">,
): SubmitReply & { accepted: false } {
  const isNobodys = !target || (target.hosted && !target.newText);
  const sources = isNobodys ? [] : [agentSource(target.id)];
  return {
    accepted: false,
    outcome: { status: "error", errorType, ...asAdvised(words), elapsedMs: 0, sources, unsent: true },
  };
}

/** The call may have been sent, and its agent does not offer the action any more, or would not recognise the call. */
function unknown({ id }: { id: string }): SubmitReply & { accepted: false } {
  const words = errorText.outcomeUnknown(`this call to '${id}'`);
  const sources = [agentSource(id)];
  return {
    accepted: false,
    outcome: { status: "error", errorType: "outcome_unknown", ...words, elapsedMs: 0, sources },
  };
}

const READS_ONLY: Advised = {
  text: "Error: Permission denied: in this chat only actions that read are allowed. Nothing was run.",
  advice:
    "Use an action that reads, by its name, or explain to the user that this has to be asked in another chat.",
};

function deniedBefore(agent: string, refuser = "the user"): Advised {
  return {
    text: `Error: The call was not sent to '${agent}': ${refuser} said no to it a moment ago. Nothing was run.`,
    advice: "Explain this to the user; do not try it again.",
  };
}

function outOfReach(agent: string): Advised {
  return {
    text: `Error: Permission denied: agent '${agent}' is not in reach of this caller. Nothing was run.`,
    advice: "Explain this to the user.",
  };
}

/** Why a call to an agent that cannot ask itself needs an approval. */
function reasonOf(
  home: HomeContext,
  { conversation, caller }: SubmitRequest,
  of: { because: readonly Source[]; target: string },
  asker?: Asker,
): TaintReason {
  const plain = (reason: string) => ({ reason, unread: [] });
  if (asker?.by === "agent") return plain(`it comes from device '${asker.agent}'`);
  if (asker?.by === "home") return plain(`it comes from another home, '${caller.principal}'`);
  return taintReason(home, { conversation, ...of });
}

/** "5 min", "3 h" */
function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 120 ? `${Math.max(1, minutes)} min` : `${Math.round(minutes / 60)} h`;
}
