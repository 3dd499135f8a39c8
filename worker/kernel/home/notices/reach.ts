/** How people of a home are reached: private chats of people that a connection knows, and the browsers and topics of tokens. */

import { ENGLISH, type Phrases } from "@edgecall/core/phrases/phrases.ts";
import { type Connection, type Role, readConnections, roleInSettings } from "../../settings/chat.ts";
import { SettingsError } from "../../settings/settings-error.ts";
import { AuthSettingsError } from "../../settings/tokens.ts";
import type { HomeContext } from "../context.ts";
import { featuresOf, type PrivateChat, type Subscriptions } from "../feature.ts";
import { type Admitting, chatConnectionsOf } from "../people/chat-connections.ts";
import { conversationListOf } from "../people/conversation-list.ts";
import { roleOfTokens } from "../people/roles.ts";
import { sendersOf } from "../people/senders.ts";

/** The word for all owners as recipients. */
export const OWNERS = "owners";
/** A home has few owners. */
const OWNERS_MAX = 10;

/** The server of a browser or topic wants another try, not before this. */
export class DeliverLaterError extends Error {
  override readonly name = "DeliverLaterError";
  readonly pauseMs: number;

  constructor(status: number, pauseMs: number) {
    super(`the push server answered ${status}`);
    this.pauseMs = pauseMs;
  }
}

/** Browsers and topics, with their owners. */
function subscriptionsOf(home: HomeContext): ReadonlyArray<{ id: string; principal: string }> {
  return subscriptionKind(home)?.all(home) ?? [];
}

/** Ids of the browsers and topics of this person. */
export function ownSubscriptions(home: HomeContext, principal: string): string[] {
  return subscriptionsOf(home).flatMap((one) => (one.principal === principal ? [one.id] : []));
}

export function subscriptionKind(home: HomeContext): Subscriptions | undefined {
  return featuresOf(home).find(({ subscriptions }) => subscriptions)?.subscriptions;
}

/** As the row has it, for people. @param isHere the conversation where that is read made the rule */
export function recipientText(to: string | null, isHere = true, phrases: Phrases = ENGLISH): string {
  if (to === null) return phrases.say(isHere ? "youHere" : "youNotified");
  return to === OWNERS ? phrases.say("theOwners") : nameOf(to);
}

/** As a person writes it: `owners`, `telegram:family:7`. */
export function nameOf(to: string): string {
  const [, channel, ...id] = to.split("/");
  return channel === undefined ? to : `${channel}:${id.join("/")}`;
}

/** The private chats of owners, and the browsers and topics of their tokens. */
export function ownersOf(home: HomeContext): string[] {
  const chats = connectionsOf(home).flatMap((connection) =>
    peopleOver(home, connection, ["owner"]).flatMap(
      (sender) => privateChatOf(home, connection, sender) ?? [],
    ),
  );
  const own = subscriptionsOf(home).filter(({ principal }) => isOwnersToken(home, principal));
  return [...chats.slice(0, OWNERS_MAX), ...own.map(({ id }) => id)];
}

function isOwnersToken(home: HomeContext, principal: string): boolean {
  try {
    return roleOfTokens(home, principal) === "owner";
  } catch (error) {
    if (error instanceof AuthSettingsError) return false;
    throw error;
  }
}

/** Ids of the people with one of these roles: those named in the settings, and those whom an owner let in. */
export function peopleOver(home: HomeContext, connection: Admitting, roles: readonly Role[]): string[] {
  const { role_of, channel, connection: name } = connection;
  const letIn = sendersOf(home)
    .senders()
    .filter((one) => one.channel === channel && one.connection === name)
    .filter((one) => roles.includes(roleInSettings(connection, one.sender) ?? one.role))
    .map(({ sender }) => sender);
  const named = Object.entries(role_of).flatMap(([id, role]) => (roles.includes(role) ? [id] : []));
  return [...new Set([...named, ...letIn])];
}

/** @returns undefined: there is none, or the platform lets nobody begin it */
export function privateChatOf(home: HomeContext, connection: Admitting, sender: string): string | undefined {
  const { channel, connection: name } = connection;
  const chat = privateChatIn(home, connection, sender);
  if (!chat?.needsWord) return chat?.conversation;
  const hasWritten =
    conversationListOf(home).has(chat.conversation) ||
    sendersOf(home).roleOf({ channel, connection: name, sender });
  return hasWritten ? chat.conversation : undefined;
}

/** @returns undefined: the platform has none that the gateway could name */
export function privateChatName(
  home: HomeContext,
  connection: Admitting,
  sender: string,
): string | undefined {
  return privateChatIn(home, connection, sender)?.conversation;
}

function privateChatIn(home: HomeContext, connection: Admitting, sender: string): PrivateChat | undefined {
  for (const { privateChat } of featuresOf(home)) {
    // SAFETY: a secret is in no conversation's name.
    const chat = privateChat?.(connection as Connection, sender);
    if (chat) return { ...chat, conversation: `${home.name}/${connection.channel}/${chat.conversation}` };
  }
  return undefined;
}

export function isThis(one: Admitting, channel: string, connection: string): boolean {
  return one.channel === channel && one.connection === connection;
}

/** Those of the settings, and those that were made in the console. */
export function connectionsOf(context: HomeContext): Admitting[] {
  const { env, name } = context;
  const stored = chatConnectionsOf(context).admitting();
  try {
    const set = readConnections(env).filter(({ home }) => home === name);
    return [
      ...set,
      ...stored.filter((one) => !set.some((other) => isThis(one, other.channel, other.connection))),
    ];
  } catch (error) {
    if (error instanceof SettingsError) return stored;
    throw error;
  }
}
