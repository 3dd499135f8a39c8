/** One thing that a person did over a chat app: admitted, then given to its conversation. */

import type { Env } from "../../../kernel/env.ts";
import { HttpError } from "../../../kernel/http/errors.ts";
import { logInfo } from "../../../kernel/log.ts";
import type { Connection } from "../../../kernel/settings/chat.ts";
import type { Accepted as Delivered } from "../contract.ts";
import { chatIn } from "../conversation-api.ts";
import type { ChatPlatform, Incoming } from "../platforms/chat-platform.ts";
import { admit } from "./admission.ts";
import { toDelivery } from "./delivery.ts";
import { pressButton } from "./press-button.ts";

/**
 * @property refused words for the sender alone
 * @property words an answer at once, where there is no chat to send it to
 * @property notice tells the owners of a stranger
 */
export type Accepted = Delivered & { refused?: string; notice?: () => Promise<void> };

const STRANGERS_PRESS = "I do not know you, so this button does nothing for you.";

/** `home/channel/id` */
export function conversationName(
  { home, channel }: Connection,
  { conversation }: Pick<Incoming, "conversation">,
): string {
  return `${home}/${channel}/${conversation}`;
}

/**
 * Slack and Discord name a private chat by its own id, which is not known yet when the gateway speaks there first.
 * @returns the conversation in which rules tell the sender; undefined: it is the same one, or a group
 */
function privateChatName(channel: ChatPlatform, connection: Connection, event: Incoming): string | undefined {
  const chat = event.group ? undefined : channel.privateChat?.(connection, event.sender.id);
  return chat && chat.conversation !== event.conversation ? conversationName(connection, chat) : undefined;
}

/** @throws HttpError 400 */
export async function acceptIncoming(
  env: Env,
  channel: ChatPlatform,
  connection: Connection,
  event: Incoming,
): Promise<Accepted> {
  // The same limit as in /v1. Ids of platforms are far shorter.
  if (!/^[A-Za-z0-9._:@-]{1,128}$/.test(event.conversation))
    throw new HttpError(400, "invalid_body", "conversation: longer than 128 characters");
  const admitted = await admit(env, connection, event);
  if (!admitted.ok) {
    logInfo("webhook.stranger", { channel: connection.channel, connection: connection.connection });
    const { words, why, notice } = admitted;
    // In a group a stranger is answered only where nobody else reads it. A press is.
    const alone = event.act.do === "press" ? STRANGERS_PRESS : event.whispers ? why : undefined;
    const refused = words ?? alone;
    return { ...(refused !== undefined && { refused }), ...(notice && { notice }) };
  }
  const name = conversationName(connection, event);
  const privateChat = privateChatName(channel, connection, event);
  const { act, sender } = event;
  if (act.do === "press") return await pressButton(env, name, admitted, { act, sender }, privateChat);
  const delivery = await toDelivery(env, channel, connection, event, admitted, privateChat);
  return await chatIn(env, name).receive(delivery);
}
