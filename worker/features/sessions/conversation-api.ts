/** Methods of a conversation about sessions. */

import { topicIn } from "../../kernel/api/stubs.ts";
import type { SessionInfo, SessionTurn } from "../../kernel/api/turns.ts";
import type { Env } from "../../kernel/env.ts";

export interface SessionConversationApi {
  /** For `session_status`. Undefined: nothing is here. */
  info(): Promise<SessionInfo | undefined>;
  /**
   * A turn that a tool began here. Its id is that of the tool's call.
   * @param isTaken whoever began it gets the outcome with this: nobody is told of it any more
   */
  turn(turnId: string, isTaken: boolean): Promise<SessionTurn | undefined>;
}

/** This conversation, as to sessions. @param name `home/channel/id` */
export const sessionIn = (env: Env, name: string): SessionConversationApi => topicIn(env, name, "sessions");
