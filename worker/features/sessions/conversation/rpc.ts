/** What a home asks a conversation about its sessions. */

import type { SessionInfo, SessionTurn } from "../../../kernel/api/turns.ts";
import { ConversationPart } from "../../../kernel/conversation/part.ts";
import type { SessionConversationApi } from "../conversation-api.ts";
import { sessionInfo, sessionTurn } from "./session-view.ts";

export class SessionConversationRpc extends ConversationPart implements SessionConversationApi {
  async info(): Promise<SessionInfo | undefined> {
    return this.context && sessionInfo(this.context.transcript);
  }

  async turn(turnId: string, isTaken: boolean): Promise<SessionTurn | undefined> {
    const { context } = this;
    const turn = context?.transcript.turn(turnId);
    if (!context || !turn?.origin.session) return undefined;
    if (isTaken && turn.status !== "running") context.transcript.told(turn.n);
    return sessionTurn(context, turn);
  }
}
