/** What sessions add to a conversation. */

import type { ConversationFeature } from "../../../kernel/conversation/feature.ts";
import { sessionTools } from "../model-tools.ts";
import { usedUp } from "./budget.ts";
import { notifyParents } from "./notify-parent.ts";
import { sessionConversationRpc } from "./rpc.ts";
import { besideCall, cancelSession, hasSessionTools } from "./tools.ts";

export const sessions = {
  rpc: { sessions: sessionConversationRpc },
  usedUp: ({ transcript }, turn) => usedUp(transcript, turn),
  notifyEnds: notifyParents,
  tools: { ...sessionTools, isOffered: hasSessionTools, beside: besideCall, cancel: cancelSession },
} satisfies ConversationFeature;
