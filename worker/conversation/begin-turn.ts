import type { NewTurn } from "../api/turns.ts";
import { logInfo } from "../log.ts";
import type { ConversationContext } from "./context.ts";
import type { Turn } from "./store/rows.ts";
import { abortModelCall } from "./turn-end.ts";

/** Stores a turn, or recognises it; it is not set going. */
export function beginTurn(context: ConversationContext, request: NewTurn): Turn {
  const { transcript, media, subscribers, name } = context;
  const { turn, as } = transcript.begin(request);
  logInfo("turn.begun", { turn: turn.id, conversation: name, as });
  if (as === "known") return turn;
  for (const picture of request.media ?? []) media.add(picture);
  subscribers.began(turn);
  // What the model is about to say is no answer to all that was said.
  if (as === "joined") abortModelCall(context, turn);
  return turn;
}
