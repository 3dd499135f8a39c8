/** What plain sentences add to a conversation. */

import type { ConversationFeature } from "../../../kernel/conversation/feature.ts";
import { sentence } from "./sentence.ts";
import { tell } from "./tell.ts";

export const sentences = { unaided: { sentence, tell } } satisfies ConversationFeature;
