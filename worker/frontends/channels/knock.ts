/**
 * What the owners hear in their own private chats. A stranger has knocked: the code is not in it: the stranger has it,
 * and who tells it to an owner is the one who asked. What a stranger can set off is bounded for the whole home.
 */

import type { AdmittedSender, Stranger } from "../../api/senders.ts";
import { conversationOf, homeOf } from "../../api/stubs.ts";
import { channelOf } from "../../channels/all.ts";
import type { Env } from "../../env.ts";
import { type Connection, readConnections } from "../../settings/channels.ts";

/** A home has a few; a long list of them is no reason to write to everybody. */
const OWNERS_MAX = 5;

/**
 * @param over the connection that it is about: its own owners are told first
 * @param id of what they are told: none of them hears it twice
 */
export async function tellOwners(env: Env, over: Connection, id: string, text: string): Promise<void> {
  const { home } = over;
  const { senders } = await homeOf(env, home).pairings();
  // This one may be kept by the home; others of those are not looked for.
  const set = readConnections(env).filter(
    (one) => one.home === home && (one.channel !== over.channel || one.connection !== over.connection),
  );
  const chats = [over, ...set]
    .flatMap((connection) => ownersOf(connection, senders).flatMap((id) => privateChat(connection, id)))
    .slice(0, OWNERS_MAX);
  await Promise.all(
    chats.map(({ channel, conversation, address }) =>
      conversationOf(env, `${home}/${channel}/${conversation}`).receive({
        id,
        origin: { principal: "gateway", role: "owner", channel, reply: address },
        act: { do: "tell", text },
      }),
    ),
  );
}

/** Those in the settings, and those whom another owner let in. */
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

/** Platforms without a private chat that is reached by a person's id have none: not everybody is told everywhere. */
function privateChat(connection: Connection, id: string) {
  const chat = channelOf(connection.channel)?.privateChat?.(connection, id);
  return chat ? [{ channel: connection.channel, ...chat }] : [];
}

/** @param isLast no other is told of until an hour after the first of them is over */
export function knockWords({ name, channel, connection }: Stranger, isLast: boolean): string {
  // They chose it: words alone, no link and no mark.
  const plain = name.replace(/[^\p{L}\p{N} @.'-]/gu, "").trim();
  const who = plain === "" ? "Somebody" : `Somebody who goes by “${plain}”`;
  const more = isLast ? " Others who ask within the hour are listed in the console alone." : "";
  return `${who} (${channel}, ${connection}) wants to speak with me, and was given a code. If you expect them, ask them for it and send me /approve with it. Otherwise do nothing.${more}`;
}
