/** `/v1/conversations`: lists, shows, renames, shares and deletes conversations. turns.ts has their turns. */
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import type { Place } from "../api/conversation-list.ts";
import { READERS_MAX, TITLE_MAX } from "../api/conversation-list.ts";
import { mayManage, seesAll } from "../api/may-see.ts";
import { conversationOf, homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { requireScope } from "../http/auth.ts";
import { namedConversation, noConversation, requireSeen } from "../http/conversation-access.ts";
import { HttpError } from "../http/errors.ts";
import { readBody, readWholeNumber, readWords, readYesOrNo } from "../http/request.ts";

export const conversations = newRoutes();

conversations.get("/v1/conversations", listConversations);
conversations.get("/v1/conversations/:id", showConversation);
conversations.delete("/v1/conversations/:id", forgetConversation);
conversations.patch("/v1/conversations/:id", renameConversation);
conversations.post("/v1/conversations/:id/share", shareConversation);

/** Turns of a conversation in one answer. */
const TURNS = 100;
const TURNS_MAX = 200;
const LIMIT = 30;
const LIMIT_MAX = 100;
const SEARCH_MAX_CHARS = 80;
/** A place in the list: when the conversation was last used, and its id. */
const CURSOR = /^(\d{1,15})\.([A-Za-z0-9._:@-]{1,128})$/;

/** Query: `limit` (30, at most 100), `after` (`next` of the previous page), `q` (words of the title), `all=yes` (of everybody, for owners and administrators). */
async function listConversations(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "ask");
  const limit = readWholeNumber(c, "limit", { fallback: LIMIT, max: LIMIT_MAX });
  const after = placeOf(c.req.query("after"), token.home);
  const all = readYesOrNo(c, "all");
  if (all && !seesAll(token))
    throw new HttpError(
      403,
      "forbidden",
      "all: only owners and administrators see everybody's conversations",
    );
  // One more than the page holds, to know whether another page follows.
  const words = readWords(c, "q", SEARCH_MAX_CHARS);
  const query = { after, limit: limit + 1, all, words };
  const found = await homeOf(c.env, token.home).conversationsOf(token.name, query);
  const conversations = found.slice(0, limit);
  const last = found.length > limit ? conversations.at(-1) : undefined;
  return c.json({ conversations, next: last ? `${last.last_at}.${last.id}` : null });
}

function placeOf(text: string | undefined, home: string): Place | undefined {
  if (text === undefined) return undefined;
  const [, last_at, id] = CURSOR.exec(text) ?? [];
  if (last_at === undefined || id === undefined)
    throw new HttpError(400, "invalid_query", "after: expected 'next' of an earlier answer");
  return { last_at: Number(last_at), name: `${home}/api/${id}` };
}

/** Query: `limit` (100, at most 200) and `before`. Answers with the newest turns before that place. */
async function showConversation(c: Context<App>): Promise<Response> {
  const { id, name } = namedConversation(c);
  await requireSeen(c, name);
  const before = readWholeNumber(c, "before", {
    fallback: Number.MAX_SAFE_INTEGER,
    max: Number.MAX_SAFE_INTEGER,
  });
  const limit = readWholeNumber(c, "limit", { fallback: TURNS, max: TURNS_MAX });
  const page = await conversationOf(c.env, name).history({ before, limit });
  if (page.turns.length === 0) throw noConversation();
  return c.json({ id, ...page });
}

const Sharing = z.strictObject({
  with: z.array(z.string().check(z.trim(), z.minLength(1), z.maxLength(200))).check(z.maxLength(READERS_MAX)),
});

/** `POST /v1/conversations/{id}/share {with: [names]}`: shares it with exactly these tokens. The token that began it always sees it. */
async function shareConversation(c: Context<App>): Promise<Response> {
  const { name, id } = await managed(c);
  const { with: names } = await readBody(c, Sharing);
  const home = homeOf(c.env, c.get("token").home);
  if (!(await home.shareConversation(name, names)))
    throw new HttpError(
      409,
      "too_many",
      "this home shares too many conversations; stop sharing others first",
    );
  return c.json({ id, shared_with: [...new Set(names)].sort() });
}

const Naming = z.strictObject({ title: z.string().check(z.trim(), z.minLength(1), z.maxLength(TITLE_MAX)) });

/** `PATCH /v1/conversations/{id} {title}`: whoever may delete a conversation may rename it. */
async function renameConversation(c: Context<App>): Promise<Response> {
  const { name, id } = await managed(c);
  const { title } = await readBody(c, Naming);
  const renamed = await homeOf(c.env, c.get("token").home).renameConversation(name, title);
  if (renamed === undefined)
    throw new HttpError(
      409,
      "not_listed",
      "this conversation is not in the list: it has a title from its next turn on",
    );
  return c.json({ id, title: renamed });
}

async function forgetConversation(c: Context<App>): Promise<Response> {
  const { name } = await managed(c);
  await conversationOf(c.env, name).forget();
  return c.body(null, 204);
}

/** Passes when the caller began the conversation or may manage it. @throws HttpError 404; 403 when it is only shared with them */
async function managed(c: Context<App>): Promise<{ name: string; id: string }> {
  const { id, name } = namedConversation(c);
  await requireSeen(c, name);
  const token = c.get("token");
  const belongs = await conversationOf(c.env, name).belongs();
  // Deleting a conversation that does not exist is no error: the list may still name it.
  if (belongs ? mayManage(token, { kind: "conversation", by: belongs.principal }) : c.req.method === "DELETE")
    return { name, id };
  if (!belongs) throw noConversation();
  throw new HttpError(
    403,
    "forbidden",
    "only whoever began this conversation may share, rename or delete it",
  );
}
