/** Methods of a conversation's object over RPC from its features. Those of the kernel stand in its class. */
import { defineTopics } from "../rpc-topics.ts";
import type { ConversationObject } from "./conversation.ts";
import type { ConversationFeature } from "./feature.ts";

/** Its methods `topic.method`. */
export function defineMethods(
  Conversation: { readonly prototype: ConversationObject },
  features: readonly ConversationFeature[],
): void {
  defineTopics(
    Conversation,
    features.map(({ rpc }) => rpc),
  );
}
