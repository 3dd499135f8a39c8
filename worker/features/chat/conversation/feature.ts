/** What chat apps add to a conversation. */

import type { ConversationFeature } from "../../../kernel/conversation/feature.ts";
import { ChatConversationRpc } from "./rpc.ts";
import { chatOf } from "./session.ts";

export const chat = { rpc: { chat: ChatConversationRpc }, chat: chatOf } satisfies ConversationFeature;
