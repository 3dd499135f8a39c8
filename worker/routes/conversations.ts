/** The routes that list, share and delete conversations, and the check that a caller may see one. */
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import { mayManage, maySee, type Owned, seesAll } from "../api/may-see.ts";
import { conversationOf, homeOf } from "../api/objects.ts";
import { KEPT_MAX, type Place, READERS_MAX, TITLE_MAX } from "../home/usage/conversation-list.ts";
import {
  type App,
  HttpError,
  pathName,
  readBody,
  readYesOrNo,
  requireCounts,
  requireScope,
} from "../http/http.ts";

export const CONVERSATION_ID = /^[A-Za-z0-9._:@-]{1,128}$/;

const LIMIT = 30;
const LIMIT_MAX = 100;
const SEARCH_MAX_CHARS = 80;
/** When the last one of a page was used, and its id. */
const CURSOR = /^(\d{1,15})\.([A-Za-z0-9._:@-]{1,128})$/;

/** Query: `limit` (30, at most 100), `after` (`next` of the page before), `q` (words of the title), `all=yes` (everybody's: for owners and administrators). */
export async function listConversations(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "ask");
  const limit = limitOf(c.req.query("limit"));
  const after = placeOf(c.req.query("after"), token.home);
  const all = readYesOrNo(c, "all");
  if (all && !seesAll(token))
    throw new HttpError(
      403,
      "forbidden",
      "all: only owners and administrators see everybody's conversations",
    );
  // One more than is shown tells whether there are more.
  const words = wordsOf(c.req.query("q"));
  const query = { after, limit: limit + 1, all, words };
  const found = await homeOf(c.env, token.home).conversationsOf(token.name, query);
  const conversations = found.slice(0, limit);
  const last = found.length > limit ? conversations.at(-1) : undefined;
  return c.json({
    conversations,
    next: last ? `${last.last_at}.${last.id}` : null,
    listed_at_most: KEPT_MAX,
  });
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

function wordsOf(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= SEARCH_MAX_CHARS) return text?.trim();
  throw new HttpError(400, "invalid_query", `q: expected at most ${SEARCH_MAX_CHARS} characters of a title`);
}

/**
 * The caller may see this conversation, or nothing is there yet.
 * @param name `home/channel/id` @param kind of what it holds
 * @returns `own`: they see it only as what they began, or will begin
 * @throws HttpError 404, in the words of one that does not exist
 */
export async function requireSeen(
  c: Context<App>,
  name: string,
  kind: Owned["kind"] = "conversation",
): Promise<"own" | "any"> {
  const seen = await seenAs(c, name, kind);
  if (seen) return seen;
  throw c.req.path.endsWith("/messages") ? idInUse() : noConversation();
}

export async function isSeen(c: Context<App>, name: string, kind: Owned["kind"]): Promise<boolean> {
  return (await seenAs(c, name, kind)) !== undefined;
}

async function seenAs(
  c: Context<App>,
  name: string,
  kind: Owned["kind"],
): Promise<"own" | "any" | undefined> {
  const token = c.get("token");
  // Asks no object for those who may see them all.
  if (maySee(token, { kind, by: undefined })) return "any";
  const belongs = await conversationOf(c.env, name).belongs();
  const by = belongs ? belongs.principal : token.name;
  if (maySee(token, { kind, by })) return "own";
  const sharedWith = await homeOf(c.env, token.home).sharedWith(name);
  return maySee(token, { kind, by, sharedWith }) ? "any" : undefined;
}

export function idInUse(): HttpError {
  return new HttpError(
    404,
    "not_found",
    "no conversation of yours, and its id is in use: choose another one",
  );
}

/** A stream may outlive its token. @throws HttpError, which ends it */
export async function requireCounting(c: Context<App>): Promise<void> {
  await requireCounts(c.env, c.get("token"));
}

/** For a stream, which may also outlive that its conversation is shared. @returns a function that throws HttpError then */
export function stillMay(c: Context<App>, name: string): () => Promise<void> {
  return async () => {
    await requireCounting(c);
    await requireSeen(c, name);
  };
}

export function noConversation(): HttpError {
  return new HttpError(404, "not_found", "no such conversation");
}

const Sharing = z.strictObject({
  with: z.array(z.string().check(z.trim(), z.minLength(1), z.maxLength(200))).check(z.maxLength(READERS_MAX)),
});

/** `POST /v1/conversations/{id}/share {with: [names]}`: these and nobody else, beside whoever began it. */
export async function shareConversation(c: Context<App>): Promise<Response> {
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

/** `PATCH /v1/conversations/{id} {title}`: for whoever may delete it. */
export async function renameConversation(c: Context<App>): Promise<Response> {
  const { name, id } = await managed(c);
  const { title } = await readBody(c, Naming);
  const kept = await homeOf(c.env, c.get("token").home).renameConversation(name, title);
  if (kept === undefined)
    throw new HttpError(409, "not_listed", "only the newest conversations are listed and have a title");
  return c.json({ id, title: kept });
}

export async function forgetConversation(c: Context<App>): Promise<Response> {
  const { name } = await managed(c);
  await conversationOf(c.env, name).forget();
  return c.body(null, 204);
}

/** A conversation that the caller began, or may manage. @throws HttpError 404; 403 when it was shared with them */
async function managed(c: Context<App>): Promise<{ name: string; id: string }> {
  const token = requireScope(c, "ask");
  const id = pathName(c, "id", CONVERSATION_ID, CONVERSATION_ID_WORDS);
  const name = `${token.home}/api/${id}`;
  await requireSeen(c, name);
  const belongs = await conversationOf(c.env, name).belongs();
  // Deleting what is not there is no error; a list may still have its name.
  if (belongs ? mayManage(token, { kind: "conversation", by: belongs.principal }) : c.req.method === "DELETE")
    return { name, id };
  if (!belongs) throw noConversation();
  throw new HttpError(
    403,
    "forbidden",
    "only whoever began this conversation may share, rename or delete it",
  );
}

export const CONVERSATION_ID_WORDS = "a conversation's id: 1 to 128 of A-Z a-z 0-9 . _ : @ -";
