/** How parts of a conversation reach what they keep in memory: an object that was rebuilt does without it, or finds it out again. */
import { slotsOf } from "../slot.ts";
import type { ConversationContext } from "./context.ts";

export const slot = slotsOf<ConversationContext>();
