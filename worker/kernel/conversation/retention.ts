/** Deletes pictures and files after their time, and a one-shot as a whole: no route reaches it again. */
import { sessionId } from "../api/home-tools.ts";
import { conversationOf } from "../api/stubs.ts";
import type { ConversationContext } from "./context.ts";
import { oneShotEnded, oneShotEnds, oneShotLooks } from "./one-shot.ts";
import type { Table } from "./store/schema.ts";

/** Deletes what has had its time. @returns when the next is due (epoch ms) */
export async function expire(context: ConversationContext): Promise<number | undefined> {
  const { transcript, media, isOneShot } = context;
  const now = Date.now();
  transcript.release();
  let looksAt: number | undefined;
  if (isOneShot) {
    const ends = oneShotEnds(transcript.turns().at(-1));
    if (ends !== undefined && ends <= now) {
      await wipe(context);
      return undefined;
    }
    if (ends !== undefined) {
      transcript.dropEnded(oneShotEnded(now));
      looksAt = Math.min(ends, oneShotLooks(transcript.turns()[0], now));
    }
  }
  if ((media.nextExpiry() ?? now + 1) <= now) media.trim();
  const times = [looksAt, media.nextExpiry()].filter((time) => time !== undefined);
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Deletes the sessions that this conversation began: nobody else would ever do it. */
export async function forgetSessions({ env, name, transcript }: ConversationContext): Promise<void> {
  const home = name.split("/", 1)[0] ?? "";
  await Promise.all(
    transcript.spawned().map((call) => conversationOf(env, `${home}/api/${sessionId(call)}`).forget(true)),
  );
}

/** Deletes everything. */
export async function wipe(context: ConversationContext): Promise<void> {
  const { ctx, subscribers, alarm } = context;
  subscribers.closeAll();
  await ctx.storage.deleteAll();
  // It went with the rows.
  alarm.isGone();
  context.forget();
}

/** Deletes the turns with their pictures and files. The messages that a chat has to send still stay, and so do the ids of its deliveries. */
export function forgetTurns(context: ConversationContext): void {
  for (const table of TURN_TABLES)
    if (context.tables.has(table)) context.ctx.storage.sql.exec(`DELETE FROM ${table}`);
  context.forget();
}

const TURN_TABLES = ["entry", "past", "summary", "brought", "media", "media_part"] as const satisfies Table[];
