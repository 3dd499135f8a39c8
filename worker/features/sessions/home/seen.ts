/**
 * Decides which sessions a tool may show and use. api/may-see.ts decides for the person or the device. A conversation that others read or write
 * gets only the sessions that it began itself: what it shows, it shows to them, and what they wrote may have asked for it.
 */

import type { HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import { maySee, mayUse, type Owned } from "../../../kernel/api/may-see.ts";
import type { SessionInfo } from "../../../kernel/api/turns.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { conversationListOf } from "../../../kernel/home/people/conversation-list.ts";

/** @param session its id @param use it is written to, or its turn is ended; else it is read */
export function isSeen(
  home: HomeContext,
  request: HomeToolRequest,
  session: string,
  info: SessionInfo,
  use = false,
): boolean {
  const sharedWith = conversationListOf(home).sharedWith(`${home.name}/api/${session}`);
  const owned: Owned = { kind: "conversation", by: info.principal, sharedWith };
  if (!(use ? mayUse : maySee)(request.viewer, owned)) return false;
  // A device answers whoever asks it, so it shows nobody what it did for another person.
  const { agent } = request.from;
  if (agent && !mayUse({ name: agent.person, role: "guest", scopes: ["ask"] }, owned)) return false;
  return !hasReaders(home, request) || info.parent === request.from.conversation;
}

/** True if other people than the one whose turn it is read the conversation, in which a device answers too. */
export function hasReaders(home: HomeContext, { from, viewer }: HomeToolRequest): boolean {
  if (from.conversation === null) return false;
  if (from.others) return true;
  const by = conversationListOf(home).principalOf(from.conversation);
  const person = from.agent?.person ?? viewer.name;
  return (
    conversationListOf(home).sharedWith(from.conversation).length > 0 || (by !== undefined && by !== person)
  );
}
