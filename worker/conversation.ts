/** A conversation with its features. A new feature is one line of this list. */

import { automations } from "./features/automations/conversation/feature.ts";
import { chat } from "./features/chat/conversation/feature.ts";
import { history } from "./features/history/conversation/feature.ts";
import { rules } from "./features/rules/conversation/feature.ts";
import { sentences } from "./features/sentences/conversation/feature.ts";
import { sessions } from "./features/sessions/conversation/feature.ts";
import { ConversationObject } from "./kernel/conversation/conversation.ts";
import { defineMethods } from "./kernel/conversation/methods.ts";
import type { Env } from "./kernel/env.ts";
import type { MethodsOf } from "./kernel/rpc-topics.ts";

const CONVERSATION_FEATURES = [chat, sessions, rules, automations, sentences, history];

/** Its methods are those of the kernel and of the features: `defineMethods` makes the latter. */
export interface Conversation extends MethodsOf<typeof CONVERSATION_FEATURES> {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the methods are defined below, from the list
export class Conversation extends ConversationObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, CONVERSATION_FEATURES);
  }
}

defineMethods(Conversation, CONVERSATION_FEATURES);
