/** The methods of a conversation about one topic. Over RPC they are `topic.method`: one request, and a trace names the topic. */
import type { PartOf } from "../rpc-topics.ts";
import type { ConversationContext } from "./context.ts";

/** The object to its parts. */
export type ConversationAccess = {
  /** Undefined: nothing was ever stored. */
  readonly context: ConversationContext | undefined;
  /** Before the first thing is stored. */
  readonly made: ConversationContext;
};

export type ConversationPart<Api> = PartOf<ConversationAccess, Api>;
