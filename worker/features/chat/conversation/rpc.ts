/** What the routes of chat apps ask a conversation. */

import type { ConversationPart } from "../../../kernel/conversation/part.ts";
import type { ChatConversationApi } from "../conversation-api.ts";
import { receive } from "./incoming.ts";
import { chatOf } from "./session.ts";

export const chatConversationRpc: ConversationPart<ChatConversationApi> = {
  async receive({ made }, delivery) {
    const context = made;
    const chat = chatOf(context);
    if (!chat) throw new Error(`${context.name} is no chat`);
    return await receive(context, chat, delivery);
  },
};
