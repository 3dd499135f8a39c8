/** What chat apps add to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { platformOf } from "../platforms/all.ts";
import { chatRpc } from "./rpc.ts";

export const chat = {
  rpc: { chat: chatRpc },
  privateChat: (connection, sender) => {
    const channel = platformOf(connection.channel);
    const chat = channel?.privateChat?.(connection, sender);
    return chat && { conversation: chat.conversation, needsWord: channel?.needsWord === true };
  },
} satisfies HomeFeature;
