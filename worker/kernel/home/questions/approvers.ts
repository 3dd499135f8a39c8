/**
 * An approval that a call of somebody without the right to approve needs is also shown to those who may decide it: in their private
 * chats with its buttons, and on their browsers and topics by a link to the console.
 */

import type { Notice } from "../../api/notices.ts";
import type { Question, QuestionToPerson } from "../../api/questions.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError } from "../../log.ts";
import { type Role, roleInSettings } from "../../settings/chat.ts";
import { AuthSettingsError, apiTokenRecords } from "../../settings/tokens.ts";
import type { HomeContext } from "../context.ts";
import type { LedgerCall } from "../ledger/ledger.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { sendNotice } from "../notices/hand-over.ts";
import { connectionsOf, peopleOver, privateChatName, subscriptionsOf } from "../notices/reach.ts";
import type { Admitting } from "../people/chat-connections.ts";
import { personName } from "../people/person-name.ts";
import { sendersOf } from "../people/senders.ts";
import { tokensOf } from "../people/tokens.ts";

/** A home has few. With a long list of them not everybody is asked; the console lists every approval. */
const APPROVERS_MAX = 5;

/** A private chat of somebody who may approve. @property who as the person who waits reads it */
type Approver = { conversation: string; who: string };

type About = Pick<Question, "id" | "call" | "conversation" | "approval" | "members">;

/**
 * Asks them. Whoever cannot be reached is left out.
 * @returns who was asked, in words; undefined: the asker may approve, or it is no approval
 */
export async function askApprovers(
  home: HomeContext,
  question: About,
  shown: QuestionToPerson,
): Promise<string[] | undefined> {
  const call = callOf(home, question);
  if (!call || !question.approval || mayApprove(home, call.caller)) return undefined;
  const asker = nameOf(home, call.caller.principal);
  const asked = { ...shown, via: [asker, ...(shown.via ?? [])] };
  const chats = approversOf(home, question).map(async ({ conversation, who }) => {
    try {
      const { accepted } = await conversationOf(home.env, conversation).decide(asked);
      return accepted ? [who] : [];
    } catch (error) {
      logError("approver.not_asked", error, { question: question.id });
      return [];
    }
  });
  const outlets = subscriptionsOf(home).filter(({ principal }) => mayTokenApprove(home, principal));
  const ids = outlets.map(({ id }) => id);
  if (ids.length > 0) {
    sendNotice(home, ids, noticeOf(question.id, shown, asker), question.conversation);
    // Not awaited here: a server of pushes may be slow, and the person waits.
    await home.alarm.arm();
  }
  const names = outlets.map(({ principal }) => `${principal} (notifications)`);
  return [...new Set([...(await Promise.all(chats)).flat(), ...names])];
}

/** It is decided, or nobody needs to any more. */
export async function closeAtApprovers(
  home: HomeContext,
  question: About & Pick<Question, "answeredBy" | "answeredByName">,
  answer: string,
): Promise<void> {
  const call = callOf(home, question);
  if (!call || !question.approval || mayApprove(home, call.caller)) return;
  const closing = approversOf(home, question).map(({ conversation }) =>
    conversationOf(home.env, conversation).closeQuestion(
      question.id,
      answer,
      question.answeredBy,
      question.answeredByName,
    ),
  );
  for (const closed of await Promise.allSettled(closing))
    if (closed.status === "rejected")
      logError("question.close_failed", closed.reason, { question: question.id });
}

/** Returns the call; of a question that lists several, the first one's. They have the same caller. */
function callOf(home: HomeContext, { call, members }: About): LedgerCall | undefined {
  return ledgerOf(home).get(members?.[0]?.call ?? call);
}

function approversOf(home: HomeContext, { conversation }: About): Approver[] {
  const [, channel, place = ""] = conversation.split("/");
  const [connection] = place.split(":");
  const isSame = (one: Admitting) => one.channel === channel && one.connection === connection;
  const all = connectionsOf(home);
  // Those of the same connection come first, as with strangers who knock.
  const chats = [...all.filter(isSame), ...all.filter((one) => !isSame(one))].flatMap((one) =>
    peopleOver(home, one, one.approve).flatMap((sender): Approver[] => {
      const chat = privateChatName(home, one, sender);
      return chat === undefined
        ? []
        : [{ conversation: chat, who: nameOf(home, `${one.channel}:${sender}`) }];
    }),
  );
  return chats.filter((one) => one.conversation !== conversation).slice(0, APPROVERS_MAX);
}

function mayApprove(home: HomeContext, { principal, channel }: LedgerCall["caller"]): boolean {
  const over = connectionsOf(home).filter((one) => one.channel === channel);
  if (over.length === 0) return mayTokenApprove(home, principal);
  const sender = principal.slice(channel.length + 1);
  return over.some((one) => {
    const role: Role | undefined =
      roleInSettings(one, sender) ?? sendersOf(home).roleOf({ channel, connection: one.connection, sender });
    return role !== undefined && one.approve.includes(role);
  });
}

function mayTokenApprove(context: HomeContext, principal: string): boolean {
  const { env, name } = context;
  const now = Date.now();
  try {
    return [
      ...apiTokenRecords(env).filter((token) => token.home === name),
      ...tokensOf(context)
        .list()
        .filter((token) => (token.expires_at ?? now + 1) > now),
    ].some((token) => token.name === principal && token.scopes.includes("approve"));
  } catch (error) {
    if (error instanceof AuthSettingsError) return false;
    throw error;
  }
}

function nameOf(home: HomeContext, principal: string): string {
  const name = personName(home, principal, undefined);
  return name === undefined ? principal : `${name} (${principal})`;
}

function noticeOf(id: string, { agent, approval }: QuestionToPerson, asker: string): Notice {
  const text = `${asker} needs your decision: ${agent} wants to run ${approval?.tool ?? ""}. Approve or deny it in the console, or in your chat app.`;
  return { id: `approval-${id}`, text, rules: [], buttons: [], critical: false, at: Date.now() };
}
