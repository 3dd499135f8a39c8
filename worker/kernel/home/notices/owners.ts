/** Where owners hear what no rule says: their private chats, browsers and topics; without any, each owner's newest conversation of the API. */

import { apiTokenRecords } from "../../settings/tokens.ts";
import type { HomeContext } from "../context.ts";
import { conversationListOf } from "../people/conversation-list.ts";
import { tokensOf } from "../people/tokens.ts";
import { ownersOf } from "./reach.ts";

/** A home has few owners. With a long list of them, not everybody gets a message. */
const OWNERS_MAX = 5;
/** An owner's newest conversation is among so many: the others were shared with them. */
const LISTED = 50;

/** @returns conversations and outlets */
export function ownersHear(home: HomeContext): string[] {
  const own = ownersOf(home);
  return own.length > 0 ? own : conversationsOf(home).slice(0, OWNERS_MAX);
}

function conversationsOf(context: HomeContext): string[] {
  const { env, name } = context;
  const now = Date.now();
  const inSettings = apiTokenRecords(env).filter((token) => token.home === name);
  const made = tokensOf(context)
    .list()
    .filter((token) => (token.expires_at ?? now + 1) > now);
  const owners = [...inSettings, ...made].filter(({ role }) => role === "owner");
  return [...new Set(owners.map((token) => token.name))].flatMap((principal) => {
    const own = conversationListOf(context)
      .of(principal, { limit: LISTED })
      .find((one) => one.principal === undefined);
    return own ? [`${name}/api/${own.id}`] : [];
  });
}
