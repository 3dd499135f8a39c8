/** What chat apps add to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { channelOf } from "../platforms/all.ts";
import { ChatRpc } from "./rpc.ts";

export const chat = {
  rpc: { chat: ChatRpc },
  privateChat: (connection, sender) =>
    channelOf(connection.channel)?.privateChat?.(connection, sender)?.conversation,
} satisfies HomeFeature;
