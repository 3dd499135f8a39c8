/**
 * Tells owners in their private chats that a stranger asks to be let in. The message does not contain the code: the stranger gives
 * it to an owner, which proves who asked. The number of messages that strangers can cause is limited for the whole home.
 */

import type { AdmittedSender, UnknownSender } from "../../../kernel/api/senders.ts";
import type { Env } from "../../../kernel/env.ts";
import { type Connection, readConnections } from "../../../kernel/settings/chat.ts";
import { chatAt } from "../chat-api.ts";
import { chatIn } from "../conversation-api.ts";
import { platformOf } from "../platforms/all.ts";

/** A home has few owners. With a long list of them, not everybody gets a message. */
const OWNERS_MAX = 5;

/**
 * @param over the connection that the message is about; its own owners come first
 * @param id of the message, so that no owner gets it twice
 */
export async function notifyOwners(env: Env, over: Connection, id: string, text: string): Promise<void> {
  const { home } = over;
  const { senders } = await chatAt(env, home).senders();
  // `over` may be stored in the home. Other connections that the home stores are not searched.
  const set = readConnections(env).filter(
    (one) => one.home === home && (one.channel !== over.channel || one.connection !== over.connection),
  );
  const chats = [over, ...set]
    .flatMap((connection) => ownersOf(connection, senders).flatMap((id) => privateChat(connection, id)))
    .slice(0, OWNERS_MAX);
  await Promise.all(
    chats.map(({ channel, conversation, address }) =>
      chatIn(env, `${home}/${channel}/${conversation}`).receive({
        id,
        origin: { principal: "gateway", role: "owner", channel, reply: address },
        act: { do: "tell", text },
      }),
    ),
  );
}

/** The owners named in the settings, and those whom another owner let in. */
function ownersOf(
  { role_of, channel, connection }: Connection,
  senders: readonly AdmittedSender[],
): string[] {
  const named = Object.keys(role_of).filter((id) => role_of[id] === "owner");
  const letIn = senders.filter(
    (one) => one.role === "owner" && one.channel === channel && one.connection === connection,
  );
  return [...new Set([...named, ...letIn.map(({ sender }) => sender)])];
}

/** Empty for platforms where a person's id does not lead to a private chat: their owners get no message. */
function privateChat(connection: Connection, id: string) {
  const chat = platformOf(connection.channel)?.privateChat?.(connection, id);
  return chat ? [{ channel: connection.channel, ...chat }] : [];
}

/** @param isLast no further stranger is announced within the hour */
export function requestText({ name, channel, connection }: UnknownSender, isLast: boolean): string {
  // The stranger chose the name, so links and markup are removed.
  const plain = name.replace(/[^\p{L}\p{N} @.'-]/gu, "").trim();
  const who = plain === "" ? "Somebody" : `Somebody who goes by “${plain}”`;
  const more = isLast ? " Others who ask within the hour are listed in the console alone." : "";
  return `${who} (${channel}, ${connection}) wants to speak with me, and was given a code. If you expect them, ask them for it and send me /approve with it. Otherwise do nothing.${more}`;
}
