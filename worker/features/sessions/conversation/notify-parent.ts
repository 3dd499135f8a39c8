/**
 * Tells where a session was begun that a turn of it has ended. What is to be told follows from the rows, so a crash between any two
 * writes repeats it, and whoever is told recognises the repeat.
 */
import { conversationOf } from "../../../kernel/api/stubs.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import { slot } from "../../../kernel/conversation/slot.ts";
import type { Turn } from "../../../kernel/conversation/store/rows.ts";
import { logError } from "../../../kernel/log.ts";
import { RetrySchedule } from "../../../kernel/retry-schedule.ts";
import { sessionOutcome } from "./session-view.ts";

/** Whoever is not reached by then has no use for it. */
const GIVE_UP_MS = 48 * 3_600_000;

/** Ends of turns that whoever began them could not be told. */
const notifyRetriesOf = slot(() => new RetrySchedule());

/** @returns when to try again what could not be told (epoch ms) */
export async function notifyParents(context: ConversationContext): Promise<number | undefined> {
  const { transcript, alarm } = context;
  const ended = transcript.endsToNotify();
  if (ended.length === 0) return undefined;
  const notifyRetries = notifyRetriesOf(context);
  for (const turn of ended) {
    if (notifyRetries.dueAt(turn.id) > Date.now()) continue;
    // A crash in the middle: the alarm tells it again.
    await alarm.lease();
    const endedAt = turn.finishedAt ?? 0;
    if ((await notifyParent(context, turn)) || Date.now() - endedAt > GIVE_UP_MS) {
      transcript.markNotified(turn.n);
      notifyRetries.remove(turn.id);
    } else notifyRetries.failed(turn.id, endedAt, Date.now());
  }
  return notifyRetries.nextDue(transcript.endsToNotify().map(({ id }) => id));
}

/** @returns false: tell it again later */
async function notifyParent(context: ConversationContext, turn: Turn): Promise<boolean> {
  const { session } = turn.origin;
  // It may have been forgotten meanwhile.
  if (!session || !context.transcript.turn(turn.id)) return true;
  try {
    const outcome = sessionOutcome(context, turn);
    if (session.agent !== undefined && (await context.home().calls.sessionEnded(turn.id, outcome)))
      return true;
    if (session.parent === null) return true;
    return await conversationOf(context.env, session.parent).sessionEnded(session.call, turn.id, outcome);
  } catch (error) {
    logError("session.tell_failed", error, { turn: turn.id });
    return false;
  }
}
