/** What a home asks a conversation about its sessions. */

import type { ConversationPart } from "../../../kernel/conversation/part.ts";
import type { SessionConversationApi } from "../conversation-api.ts";
import { sessionInfo, sessionTurn } from "./session-view.ts";

export const sessionConversationRpc: ConversationPart<SessionConversationApi> = {
  info: async ({ context }) => context && sessionInfo(context.transcript),
  async turn({ context }, turnId, isTaken) {
    const turn = context?.transcript.turn(turnId);
    if (!context || !turn?.origin.session) return undefined;
    if (isTaken && turn.status !== "running") context.transcript.markNotified(turn.n);
    return sessionTurn(context, turn);
  },
};
