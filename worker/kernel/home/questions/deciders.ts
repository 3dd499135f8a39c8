/** People who may decide an approval of somebody else, and how each is reached: private chats, browsers and topics, an open page. */

import { mayAnswer, type Viewer } from "../../api/may-see.ts";
import type { Question } from "../../api/questions.ts";
import { type ApiToken, AuthSettingsError, apiTokenRecords } from "../../settings/tokens.ts";
import type { HomeContext } from "../context.ts";
import type { LedgerCall } from "../ledger/ledger.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { questionsOf } from "../ledger/questions.ts";
import { connectionsOf, peopleOver, privateChatName, subscriptionKind } from "../notices/reach.ts";
import type { Admitting } from "../people/chat-connections.ts";
import { conversationListOf } from "../people/conversation-list.ts";
import { personText } from "../people/person-name.ts";
import { tokensOf } from "../people/tokens.ts";

/** A home has few. With a long list of them not everybody is asked; the console lists every approval. */
const CHATS_MAX = 5;
/** Whoever wrote in a chat is at hand for so long. */
const AT_HAND_MS = 5 * 60_000;

/**
 * @property name for people @property chat a private chat's conversation @property subscriptions ids of browsers and topics
 * @property isAtHand a page of theirs is open, or they have just written in the chat
 */
export type Decider = {
  principal: string;
  name: string;
  chat?: string;
  subscriptions: string[];
  isAtHand: boolean;
};

/** Whatever is asked about: a question, or one that lists several. */
export type About = Pick<Question, "id" | "call" | "conversation" | "approval" | "members">;

/** Returns the call; of a question that lists several, the first one's. They have the same caller. */
export function callOf(home: HomeContext, { call, members }: About): LedgerCall | undefined {
  return ledgerOf(home).get(members?.[0]?.call ?? call);
}

/** Those who can be reached, without whoever reads the question's own chat. A question that is no approval is for its person alone. */
export function decidersOf(home: HomeContext, question: About, now: number): Decider[] {
  if (question.approval) return [...inChats(home, question, now), ...byTokens(home, question)];
  const asker = callOf(home, question)?.caller.principal;
  return byTokens(home, question).filter(({ principal }) => principal === asker);
}

function inChats(home: HomeContext, { conversation, approval }: About, now: number): Decider[] {
  const [, channel, place = ""] = conversation.split("/");
  const [connection] = place.split(":");
  const isSame = (one: Admitting) => one.channel === channel && one.connection === connection;
  const all = connectionsOf(home);
  // Those of the same connection come first, as with strangers who knock.
  const chats = [...all.filter(isSame), ...all.filter((one) => !isSame(one))].flatMap((one) =>
    peopleOver(
      home,
      one,
      one.approve.filter((role) => role === "owner" || !approval?.forOwners),
    ).flatMap((sender): Decider[] => {
      const chat = privateChatName(home, one, sender);
      const principal = `${one.channel}:${sender}`;
      if (chat === undefined || chat === conversation) return [];
      const isAtHand = conversationListOf(home).lastUsed(chat) > now - AT_HAND_MS;
      return [{ principal, name: personText(home, { principal }), chat, subscriptions: [], isAtHand }];
    }),
  );
  return chats.slice(0, CHATS_MAX);
}

function byTokens(home: HomeContext, question: About): Decider[] {
  const owned = {
    kind: question.approval ? "approval" : "conversation",
    by:
      conversationListOf(home).principalOf(question.conversation) ?? callOf(home, question)?.caller.principal,
    sharedWith: conversationListOf(home).sharedWith(question.conversation),
  } as const;
  const isForOwners = question.approval?.forOwners !== undefined;
  const may = (viewer: Viewer | undefined) =>
    viewer !== undefined && mayAnswer(viewer, owned) && (!isForOwners || viewer.role === "owner");
  const kind = subscriptionKind(home);
  const ids = (kind?.all(home) ?? []).filter(({ id }) => may(kind?.viewer(home, id)));
  const names = new Set(tokens(home).flatMap((token) => (may(token) ? [token.name] : [])));
  return [...names].flatMap((principal): Decider[] => {
    const subscriptions = ids.filter((one) => one.principal === principal).map(({ id }) => id);
    const isAtHand = questionsOf(home).hasPage(principal);
    return subscriptions.length === 0 && !isAtHand
      ? []
      : [{ principal, name: personText(home, { principal }), subscriptions, isAtHand }];
  });
}

/** Those that count now. */
function tokens(context: HomeContext): Array<Pick<ApiToken, "name" | "role" | "scopes">> {
  const { env, name } = context;
  const now = Date.now();
  const made = tokensOf(context)
    .list()
    .filter((token) => (token.expires_at ?? now + 1) > now);
  try {
    return [...apiTokenRecords(env).filter((token) => token.home === name), ...made];
  } catch (error) {
    if (error instanceof AuthSettingsError) return made;
    throw error;
  }
}
