/** What sessions add to a conversation. */

import type { ConversationFeature } from "../../../kernel/conversation/feature.ts";
import { usedUp } from "./budget.ts";
import { SessionConversationRpc } from "./rpc.ts";
import { tellParents } from "./tell-parent.ts";

export const sessions = {
  rpc: { sessions: SessionConversationRpc },
  usedUp: ({ transcript }, turn) => usedUp(transcript, turn),
  tellEnds: tellParents,
} satisfies ConversationFeature;
