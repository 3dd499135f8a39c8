/** `GET /v1/conversations`: the token's own, the newest first. */
import type { Context } from "hono";
import type { Place } from "../home/conversation-list.ts";
import { type App, HttpError, requireScope } from "../http.ts";
import { homeOf } from "../objects.ts";

const LIMIT = 30;
const LIMIT_MAX = 100;
/** When the last one of a page was used, and its id. */
const CURSOR = /^(\d{1,15})\.([A-Za-z0-9._:@-]{1,128})$/;

/** Query: `limit` (30, at most 100), `after` (`next` of the page before). */
export async function listConversations(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "ask");
  const limit = limitOf(c.req.query("limit"));
  const after = placeOf(c.req.query("after"), token.home);
  // One more than is shown tells whether there are more.
  const found = await homeOf(c.env, token.home).conversationsOf(token.name, after, limit + 1);
  const conversations = found.slice(0, limit);
  const last = found.length > limit ? conversations.at(-1) : undefined;
  return c.json({ conversations, next: last ? `${last.last_at}.${last.id}` : null });
}

function limitOf(text: string | undefined): number {
  const limit = text === undefined ? LIMIT : Number(text);
  if (text !== "" && Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new HttpError(400, "invalid_query", `limit: expected a whole number from 1 to ${LIMIT_MAX}`);
}

function placeOf(text: string | undefined, home: string): Place | undefined {
  if (text === undefined) return undefined;
  const [, last_at, id] = CURSOR.exec(text) ?? [];
  if (last_at === undefined || id === undefined)
    throw new HttpError(400, "invalid_query", "after: expected 'next' of an earlier answer");
  return { last_at: Number(last_at), name: `${home}/api/${id}` };
}
