/** The methods of a conversation about one topic. Over RPC they are `topic.method`: one request, and a trace names the topic. */
import type { ConversationContext } from "./context.ts";

/** The object to its parts. */
export type ConversationAccess = {
  /** Undefined: nothing was ever stored. */
  readonly context: ConversationContext | undefined;
  /** Before the first thing is stored. */
  readonly made: ConversationContext;
};

export abstract class ConversationPart {
  readonly #at: ConversationAccess;

  constructor(at: ConversationAccess) {
    this.#at = at;
  }

  /** Undefined: nothing was ever stored. */
  protected get context(): ConversationContext | undefined {
    return this.#at.context;
  }

  /** Before the first thing is stored. */
  protected get made(): ConversationContext {
    return this.#at.made;
  }
}
