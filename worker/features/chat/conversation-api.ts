/** Methods of a conversation about chat. */

import { topicIn } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import type { Accepted, Delivery } from "./contract.ts";

export interface ChatConversationApi {
  /** Handles an action of a person in a chat app, once. Durable when it returns. */
  receive(delivery: Delivery): Promise<Accepted>;
}

/** This conversation, as to chat. @param name `home/channel/id` */
export const chatIn = (env: Env, name: string): ChatConversationApi => topicIn(env, name, "chat");
