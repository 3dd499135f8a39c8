/** Questions and approvals in the middle of a call: from the device (or the gateway) to the person and back. */

import type { Outcome } from "@edgecall/core/loop/history.ts";
import { askedText } from "@edgecall/core/phrases/asked-text.ts";
import { approvalHash, canonicalJson } from "@edgecall/core/protocol/approval.ts";
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import type { AgentEvent, ApprovalRequest, UnreadText } from "@edgecall/core/protocol/mqtt.ts";
import type { CallNews } from "../../api/calls.ts";
import { type AnswerWay, HOW } from "../../api/passkeys.ts";
import type { Keep } from "../../api/permissions.ts";
import {
  ACCEPT,
  AFTER_EXPIRY_MS,
  type AnswerResult,
  askedPeople,
  CLOSED,
  EXPIRED,
  type NewQuestion,
  type Question,
  type ShownApproval,
} from "../../api/questions.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError, logInfo } from "../../log.ts";
import { readLanguage } from "../../phrases.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import { placeOf } from "../calls/call-watchers.ts";
import { refuseQuestion } from "../calls/commands.ts";
import { dispatch, holdForApproval, reach, releaseApproved, settleOutdated } from "../calls/dispatch.ts";
import { settleByGateway } from "../calls/outcome-delivery.ts";
import { shownPayload } from "../calls/shown-payload.ts";
import { taintReason } from "../calls/taint-reason.ts";
import { isWaiting, pauseDeadline, pauseParent, resumeDeadline } from "../calls/waits.ts";
import type { HomeContext } from "../context.ts";
import { emit } from "../feature.ts";
import type { LedgerCall, NewCall } from "../ledger/ledger.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { questionsOf } from "../ledger/questions.ts";
import { passkeysOf } from "../passkeys/passkey-store.ts";
import { personName } from "../people/person-name.ts";
import { keepPermissions, keptPermissions, prepareOffers } from "../permissions/offers.ts";
import { permissionsOf, type StoredOffer } from "../permissions/permission-store.ts";
import { traceQuestion } from "../trace.ts";
import { confirmAnswer } from "./answer-levels.ts";
import { closeAtApprovers } from "./approvers.ts";
import { decidedInTurn } from "./decided-before.ts";
import { deliverQuestion, deliverSoon, newsOf } from "./deliver-question.ts";
import { refusalAfterDenials, refusalText, refuserText, tellOfDenials } from "./denials.ts";
import { describeApproval, languageOf, readingsNow } from "./describe-approval.ts";
import { askMore, askMoreAt } from "./escalation.ts";
import { questionRetriesOf } from "./question-retries.ts";
import { gather, groupKeyOf, nextShown, showDue } from "./together.ts";

/** How long an approval that the gateway asks for stays open. A device's question has its own time. */
const GATEWAY_APPROVAL_MS = 10 * 60_000;
/** The device asks again every minute until it has its answer, and then gets it again. */
const ANSWER_TIMEOUT_MS = 60_000;

/** Questions that may be open at once: of one call, and of one device. Approvals that are asked for together are one. */
const OPEN_A_CALL = 3;
const OPEN_A_DEVICE = 20;
/** Approvals of one call: as many as a reply of its agent's own loop may make calls. */
const TOGETHER_A_CALL = 64;

/** An agent asks. It repeats the question until it has the answer, so a question that is known is not asked twice. */
export async function askFromAgent(
  home: HomeContext,
  call: LedgerCall,
  event: AgentEvent & { type: "question" },
): Promise<void> {
  const known = questionsOf(home).known(call.id, event.question_id);
  if (known) {
    // It does not have the answer yet. Each answer prolongs the call, but not beyond the time that it may ask for.
    const mayAsk = Date.now() < known.expiresAt + AFTER_EXPIRY_MS;
    if (mayAsk && known.answer !== null && known.answeredBy !== null)
      await sendAnswer(home, known, call, known.answer);
    return;
  }
  const { approval } = event;
  const refusal = refusalOf(home, call);
  if (refusal !== undefined) {
    const question = { id: event.question_id, isApproval: approval !== undefined };
    return await refuseQuestion(home, call, question, refusal);
  }
  if (approval) {
    const hash = await approvalHash(call.agent, approval.tool, approval.parameters, approval.cwd);
    // What the person sees must be what the device will run.
    if (hash !== approval.hash) return logInfo("question.bad_hash", { call: call.id, agent: call.agent });
    const decided = decidedInTurn(home, call, approval.hash);
    if (decided)
      return await sendAnswer(home, { ...decided, agentQuestion: event.question_id }, call, decided.answer);
    await readLanguage(home.env, languageOf(call) ?? "en");
  }
  const isCall =
    approval !== undefined &&
    approval.danger !== true &&
    approval.tool === call.payload.tool &&
    canonicalJson(approval.parameters) === canonicalJson(call.payload.parameters ?? {});
  const offers = isCall ? await prepareOffers(home, call) : undefined;
  const shown = approval && withUnread(home, call, approval);
  const described = shown && describe(home, call, shown);
  const question = {
    id: crypto.randomUUID(),
    call: call.id,
    conversation: placeOf(call, home.name),
    agent: call.agent,
    groupKey: groupKeyOf(call, approval ?? null),
    agentQuestion: event.question_id,
    text: described?.text ?? event.text,
    options: event.options ?? [],
    approval: described?.approval ?? null,
    expiresAt: Date.now() + event.expires_in_ms,
  };
  await ask(home, call, question, offers);
}

/** The sentence, and the approval with the rest that is shown. What a device says of it is left out. */
function describe(
  home: HomeContext,
  call: LedgerCall,
  { card: _, ...approval }: ShownApproval,
  readings?: readonly Reading[],
): { text: string; approval: ShownApproval } {
  const { agent, caller, asker } = call;
  const { text, card } = describeApproval(
    home,
    { agent, approval },
    { caller, asker, language: languageOf(call), readings },
  );
  return { text, approval: { ...approval, card } };
}

/** A device knows that others' texts are in the conversation, and not whose: the gateway adds those that a person can accept. */
function withUnread(home: HomeContext, call: LedgerCall, approval: ApprovalRequest): ApprovalRequest {
  const { tainted = false, because = [] } = call.flags;
  const { unread: _, ...own } = approval;
  if (!tainted || because.length === 0) return own;
  const { reason, unread } = taintReason(home, {
    conversation: call.conversation,
    because,
    target: call.agent,
  });
  return unread.length === 0 ? own : { ...own, reason: `${own.reason}: ${reason}`, unread };
}

/** Why a device may ask nothing more for now, in words for it; undefined: it may. */
function refusalOf(home: HomeContext, call: LedgerCall): string | undefined {
  const denied = refusalAfterDenials(home, call);
  if (denied !== undefined) return denied;
  const open = questionsOf(home).openOf(call.id);
  if (new Set(open.map((one) => one.listedIn ?? one.groupKey ?? one.id)).size >= OPEN_A_CALL)
    return `Not asked: ${OPEN_A_CALL} questions of this call wait for an answer already. Ask again when one is answered.`;
  if (open.length >= TOGETHER_A_CALL)
    return `Not asked: ${TOGETHER_A_CALL} approvals of this call wait for an answer already. Ask again when one is answered.`;
  if (questionsOf(home).openBy(call.agent) >= OPEN_A_DEVICE)
    return `Not asked: ${OPEN_A_DEVICE} questions of this device wait for an answer already. Ask again when one is answered.`;
  return undefined;
}

/**
 * Asks for a call to an agent that cannot ask itself, before it is sent.
 * @param unread texts that are a reason to ask
 * @returns the call's deadline, epoch ms
 */
export async function askBeforeSending(
  home: HomeContext,
  newCall: NewCall,
  reason: string,
  unread: UnreadText[] = [],
): Promise<number> {
  const { agent } = newCall;
  const { command, payload, totalMs } = newCall.order;
  const hash = await approvalHash(agent, command, payload);
  await readLanguage(home.env, newCall.flags?.language ?? "en");
  const readings = await readingsNow(home, agent);
  const offers = await prepareOffers(home, { ...newCall, command, payload });
  const expiresAt = Date.now() + GATEWAY_APPROVAL_MS;
  // The same call came again, or was cancelled, meanwhile.
  const known = ledgerOf(home).get(newCall.id);
  if (known) return known.endsAt;
  // There is no await between call and question: a call without its question would wait for nobody.
  const call = holdForApproval(home, newCall);
  const denied = refusalAfterDenials(home, call);
  if (denied !== undefined) {
    await settleNotSent(home, call, denied, { approval: "denied" });
    return call.endsAt;
  }
  const parameters = shownPayload(home, { agent, command, payload });
  const asked = { tool: command, parameters, reason, hash, ...(unread.length > 0 && { unread }) };
  const { text, approval } = describe(home, call, asked, readings);
  const question = {
    id: crypto.randomUUID(),
    call: call.id,
    conversation: placeOf(call, home.name),
    agent,
    groupKey: groupKeyOf(call, approval),
    agentQuestion: null,
    text,
    options: [],
    approval,
    expiresAt,
  };
  await ask(home, call, question, offers);
  return expiresAt + AFTER_EXPIRY_MS + totalMs;
}

async function ask(
  home: HomeContext,
  call: LedgerCall,
  question: NewQuestion,
  offers: readonly StoredOffer[] | undefined,
): Promise<void> {
  const now = Date.now();
  const wasWaiting = isWaiting(home, call);
  if (!questionsOf(home).add(question, now, askMoreAt(home, question, now))) return;
  if (offers) permissionsOf(home).offer(question.id, offers, question.expiresAt + AFTER_EXPIRY_MS);
  void emit("progress", home, call, { waits_for: question.approval ? "approval" : "an answer" });
  const until = question.expiresAt + AFTER_EXPIRY_MS;
  if (call.state === "asking") {
    ledgerOf(home).postpone(call.id, until);
    pauseParent(home, call.id);
  } else pauseDeadline(home, call, until, wasWaiting);
  if (question.groupKey !== undefined) return await gather(home, call, until);
  if (call.conversation !== null) return await deliverSoon(home, question, now);
  await deliverQuestion(home, question, now);
  await home.alarm.arm();
}

type AnsweringPerson = {
  principal: string;
  displayName?: string | undefined;
  isOwner: boolean;
  mayApprove: boolean;
  mayAccept: boolean;
};

/**
 * A person answers. Stored when it returns; the device gets it as often as it asks.
 * @param keep what they keep of the question's offers with their yes
 */
export async function answerQuestion(
  home: HomeContext,
  id: string,
  answer: string,
  by: AnsweringPerson,
  way: AnswerWay,
  keep?: Keep,
): Promise<AnswerResult> {
  const confirmed = await confirmAnswer(home, questionsOf(home).get(id), {
    answer,
    by: { name: by.principal, mayApprove: by.mayApprove },
    way,
  });
  if (!confirmed.ok) return confirmed;
  // No await from here to the answer's row: a confirmation is for what was confirmed, and for one use.
  const { answered, problem } = accepting(home, id, answer, by);
  if (problem) return problem;
  const now = Date.now();
  const kept =
    keep && by.mayApprove ? keepOf(home, id, answer, keep, { ...by, how: confirmed.how, way }) : NOTHING;
  if (!kept.ok) return kept;
  const unused = confirmed.use();
  if (unused) return unused;
  const result = questionsOf(home).answer(id, answered, { ...by, how: confirmed.how }, now);
  if (!result.ok) return result;
  keepPermissions(home, kept.permissions, now);
  if (answered !== answer)
    for (const { agent } of unreadIn(result.question)) agentRowsOf(home).acceptText(agent, undefined);
  const answeredByName = personName(home, by.principal, by.displayName);
  await passOn(home, { ...result.question, answeredByName }, answered);
  if (answered === "deny") await tellOfDenials(home, result.question);
  return result;
}

const NOTHING = { ok: true, permissions: [] } as const;

/** What an answer keeps: of a question that lists others, the same of each of them that it names. */
function keepOf(
  home: HomeContext,
  id: string,
  answer: string,
  keep: Keep,
  by: AnsweringPerson & { how: string; way: AnswerWay },
): ReturnType<typeof keptPermissions> {
  if (answer !== "approve")
    return {
      ok: false,
      status: 400,
      code: "invalid_body",
      message: "keep: only an 'approve' keeps something",
    };
  const question = questionsOf(home).get(id);
  const open = question?.members?.filter((one) => one.answer === null).map((one) => one.id);
  return keptPermissions(home, open ?? [id], keep, {
    principal: by.principal,
    isOwner: by.isOwner,
    how: by.how === HOW.passkey ? "verified" : by.how.startsWith("tap") ? "tap" : "press",
    // A token of the person's own is typed or stored by them; a session of the console has to show more.
    showsMore: by.way.by === "session" && passkeysOf(home).has(by.principal),
  });
}

/** `accept` accepts the texts for which a person is asked, as they were shown, and approves. Any other answer stays what it is. */
function accepting(
  home: HomeContext,
  id: string,
  answer: string,
  by: { mayAccept: boolean },
): { answered: string; problem?: AnswerResult } {
  const question = questionsOf(home).get(id);
  const unread = question ? unreadIn(question) : [];
  if (answer !== ACCEPT || unread.length === 0) return { answered: answer };
  const refused = (status: 403 | 409, code: string, message: string) => ({
    answered: answer,
    problem: { ok: false, status, code, message } as const,
  });
  if (!by.mayAccept)
    return refused(
      403,
      "forbidden",
      "accepting a device's description needs an administrator, or an owner in a chat",
    );
  // One that was accepted elsewhere meanwhile is none that changed.
  const changed = unread.find(({ agent, line }) => {
    const now = agentRowsOf(home).unreadOf(agent);
    return now !== undefined && now.line !== line;
  });
  if (changed)
    return refused(409, "text_changed", `'${changed.agent}' says something else by now; read it on Devices`);
  return { answered: "approve" };
}

function unreadIn({ approval }: Question): UnreadText[] {
  return approval?.unread ?? [];
}

async function passOn(home: HomeContext, question: Question, answer: string): Promise<void> {
  if (question.members) return await passOnToAll(home, question, question.members, answer);
  await passOnToCall(home, question, answer);
  await closeShown(home, question, answer);
}

/** Each member's answer is stored. A device that does not get it asks again, like one that was asked alone. */
async function passOnToAll(
  home: HomeContext,
  question: Question,
  members: readonly Question[],
  answer: string,
): Promise<void> {
  const passed = await Promise.allSettled(members.map((one) => passOnToCall(home, one, answer)));
  for (const one of passed)
    if (one.status === "rejected") logError("question.pass_failed", one.reason, { question: question.id });
  await closeInConversation(home, question, answer);
}

async function passOnToCall(home: HomeContext, question: Question, answer: string): Promise<void> {
  const call = ledgerOf(home).get(question.call);
  if (call) traceQuestion(home, call, question, answer);
  if (call && !call.outcome) {
    if (!isWaiting(home, call)) void emit("progress", home, call, { waits_for: "nothing" });
    if (question.agentQuestion === null) await decideHeldCall(home, call, answer, question);
    else await sendAnswer(home, question, call, answer);
  }
}

/** Closes a question where it is shown: one that another question lists is shown with that, until its last one is closed. */
async function closeShown(home: HomeContext, question: Question, answer: string): Promise<void> {
  if (question.listedIn === null) return await closeInConversation(home, question, answer);
  const how = answer === EXPIRED ? EXPIRED : CLOSED;
  const listing = questionsOf(home).closeListing(question.listedIn, how, Date.now());
  if (listing) await closeInConversation(home, listing, how);
}

/** The gateway's own approval of a call that it holds back. */
async function decideHeldCall(
  home: HomeContext,
  call: LedgerCall,
  answer: string,
  question: Question,
): Promise<void> {
  if (answer === "approve") {
    if (await settleOutdated(home, call)) return;
    return await releaseApproved(home, call);
  }
  const { asked = [] } = question;
  const whom = asked.length === 0 ? "" : ` (${askedText(askedPeople(asked)).replace(/\.$/, "")})`;
  if (answer === EXPIRED)
    return await settleNotSent(home, call, `nobody approved it in time${whom}`, { approval: "expired" });
  const deniedBy = refuserText(home, question, call.caller.principal);
  const decided = { approval: "denied", ...(deniedBy !== undefined && { deniedBy }) } as const;
  await settleNotSent(home, call, refusalText(deniedBy), decided);
}

async function settleNotSent(
  home: HomeContext,
  call: LedgerCall,
  why: string,
  decided: Pick<Outcome, "approval" | "deniedBy">,
): Promise<void> {
  await settleByGateway(home, call, {
    status: "error",
    errorType: "permission_denied",
    ...decided,
    text: `Error: The call was not sent to '${call.agent}': ${why}. Nothing was run.`,
    advice: "Explain this to the user; do not try it another way.",
    elapsedMs: Date.now() - call.createdAt,
    sources: [],
  });
}

async function sendAnswer(
  home: HomeContext,
  question: Question,
  call: LedgerCall,
  answer: string,
): Promise<void> {
  // A device that is away asks again when it is back, until the question would have expired. Its call goes on then.
  if (answer === EXPIRED || reach(home, call.agent, undefined).ok) resumeDeadline(home, call);
  // The device knows by its own clock that a question has expired.
  if (answer === EXPIRED) return;
  const payload = {
    question_id: question.agentQuestion,
    answer,
    ...(question.answeredBy !== null && { by: question.answeredBy }),
    ...(question.answeredHow !== null && { how: question.answeredHow }),
    ...(question.approval && { hash: question.approval.hash }),
  };
  const order = {
    command: "answer",
    payload,
    silenceMs: ANSWER_TIMEOUT_MS,
    totalMs: ANSWER_TIMEOUT_MS,
    idempotent: true,
  };
  const { agent, caller } = call;
  await dispatch(home, { id: crypto.randomUUID(), conversation: null, agent, caller, order });
}

async function closeInConversation(home: HomeContext, question: Question, answer: string): Promise<void> {
  await closeAtApprovers(home, question, answer);
  // Its client waits in Home's own waiting room.
  if (ledgerOf(home).get(question.call)?.conversation === null) return;
  try {
    const stub = conversationOf(home.env, question.conversation);
    await stub.closeQuestion(
      question.id,
      answer,
      question.answeredBy,
      question.answeredByName,
      question.answeredHow ?? undefined,
    );
  } catch (error) {
    // The conversation shows the question as open until its turn ends, and nothing else depends on it.
    logError("question.close_failed", error, { question: question.id });
  }
}

/** The questions that a call waits for, for a client that begins to watch it. */
export function openQuestions(home: HomeContext, callId: string): CallNews[] {
  return questionsOf(home).openOf(callId).map(newsOf);
}

/** A call is over: its questions need no answer any more. */
export async function closeQuestions(home: HomeContext, callId: string): Promise<void> {
  for (const question of questionsOf(home).openOf(callId)) {
    questionsOf(home).close(question.id, CLOSED, null, Date.now());
    await closeShown(home, question, CLOSED);
  }
}

/** When a question expires, or has to be delivered again, epoch ms. */
export function nextDue(home: HomeContext): number | undefined {
  const { expiry, asking } = questionsOf(home).nextTimes();
  // Most times nobody is asked anything.
  if (expiry === undefined) return undefined;
  const retry = questionRetriesOf(home).nextDue(
    questionsOf(home)
      .undelivered()
      .map(({ id }) => id),
  );
  const times = [expiry, asking, retry, nextShown(home)].filter((time) => time !== undefined);
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Closes questions that nobody answered, and delivers those that their conversation does not have yet. */
export async function onAlarm(home: HomeContext, now: number): Promise<void> {
  await showDue(home, now);
  for (const question of questionsOf(home).expired(now)) {
    // The last one that it lists took it along.
    if (questionsOf(home).get(question.id)?.answer !== null) continue;
    questionsOf(home).close(question.id, EXPIRED, null, now);
    questionRetriesOf(home).remove(question.id);
    await passOn(home, question, EXPIRED);
  }
  await askMore(home, now);
  for (const question of questionsOf(home).undelivered())
    if (questionRetriesOf(home).dueAt(question.id) <= now)
      await deliverQuestion(home, question, question.askedAt);
}
