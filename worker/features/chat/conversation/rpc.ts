/** What the routes of chat apps ask a conversation. */

import { ConversationPart } from "../../../kernel/conversation/part.ts";
import type { Accepted, Delivery } from "../contract.ts";
import type { ChatConversationApi } from "../conversation-api.ts";
import { receive } from "./incoming.ts";
import { chatOf } from "./session.ts";

export class ChatConversationRpc extends ConversationPart implements ChatConversationApi {
  async receive(delivery: Delivery): Promise<Accepted> {
    const context = this.made;
    const chat = chatOf(context);
    if (!chat) throw new Error(`${context.name} is no chat`);
    return await receive(context, chat, delivery);
  }
}
