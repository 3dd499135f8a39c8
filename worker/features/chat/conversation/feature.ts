/** What chat apps add to a conversation. */

import type { ConversationFeature } from "../../../kernel/conversation/feature.ts";
import { chatConversationRpc } from "./rpc.ts";
import { chatOf } from "./session.ts";

export const chat = { rpc: { chat: chatConversationRpc }, chat: chatOf } satisfies ConversationFeature;
