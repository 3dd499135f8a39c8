/** The answer for a program that posts to a generic connection without a callback: it stands in the webhook's own response. */
import type { Context } from "hono";
import { conversationOf } from "../../../kernel/api/stubs.ts";
import type { App } from "../../../kernel/http/app.ts";
import { mediaLink } from "../../../kernel/http/media-links.ts";
import { JSON_PATIENCE_MS, turnResult } from "../../../kernel/http/turn-stream.ts";
import type { Connection } from "../../../kernel/settings/chat.ts";
import type { Incoming } from "../platforms/chat-platform.ts";
import { answersOf, questionText } from "../platforms/question-text.ts";
import { type Accepted, conversationName } from "./incoming.ts";

/**
 * Waits for the turn, 25 s at most. The same delivery again finds the same turn.
 * @returns undefined when there is neither a turn nor words
 */
export async function answerInResponse(
  c: Context<App>,
  connection: Connection,
  event: Incoming,
  { words, turn }: Accepted,
): Promise<Response | undefined> {
  const { conversation } = event.address;
  if (words !== undefined) return c.json({ conversation, status: "done", text: words, files: [] });
  if (turn === undefined) return undefined;
  const name = conversationName(connection, event);
  const { origin } = new URL(c.req.url);
  const result = await turnResult(c.env, name, { turn }, JSON_PATIENCE_MS, c.req.raw.signal);
  if (!result) {
    const asked = (await conversationOf(c.env, name).look(turn))?.questions ?? [];
    const questions = asked
      .filter(({ answer }) => answer === undefined)
      .map((question) => ({
        question: question.id,
        text: questionText(question, origin),
        choices: answersOf(question),
      }));
    return c.json({ conversation, turn, status: "running", questions }, 202);
  }
  const files = await Promise.all(
    result.calls
      .flatMap(({ media = [] }) => media)
      .map(async ({ id, media_type, bytes }) => {
        // The connection's own secret does not open `/v1/media`; a link does.
        const url = await mediaLink(c.env, origin, connection.home, id);
        return { id, media_type, bytes, url };
      }),
  );
  return c.json({ conversation, turn, status: result.status, text: result.answer, files });
}
