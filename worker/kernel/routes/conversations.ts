/** `/v1/conversations`: lists, shows, renames, shares and deletes conversations. turns.ts has their turns. */
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import { type Place, READERS_MAX, TITLE_MAX } from "../api/conversation-list.ts";
import { mayManage, seesAll } from "../api/may-see.ts";
import { conversationOf, homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { CONVERSATION, conversationName, noConversation, requireSeen } from "../http/conversation-access.ts";
import { HttpError } from "../http/errors.ts";
import { optionalText, wholeNumber, words, yesOrNo } from "../http/fields.ts";
import { json, nothing, route } from "../http/route.ts";
import type { ApiToken } from "../settings/tokens.ts";

export const conversations = newRoutes();

/** Turns of a conversation in one answer. */
const TURNS = 100;
const TURNS_MAX = 200;
const LIMIT = 30;
const LIMIT_MAX = 100;
const SEARCH_MAX_CHARS = 80;
/** A place in the list: when the conversation was last used, and its id. */
const CURSOR = /^(\d{1,15})\.([A-Za-z0-9._:@-]{1,128})$/;

/** Lists the conversations that the caller may see, the last used first. */
route(
  conversations,
  "GET /v1/conversations",
  {
    scope: "ask",
    query: {
      limit: wholeNumber({ fallback: LIMIT, max: LIMIT_MAX }),
      /** `next` of the page before. */
      after: optionalText(CURSOR, "'next' of an earlier answer"),
      /** Words of the title. */
      q: words(SEARCH_MAX_CHARS),
      /** Those of everybody, for owners and administrators. */
      all: yesOrNo,
    },
  },
  async (c, { token, query: { limit, after, q, all } }) => {
    if (all && !seesAll(token))
      throw new HttpError(
        403,
        "forbidden",
        "all: only owners and administrators see everybody's conversations",
      );
    // One more than the page holds, to know whether another page follows.
    const query = { after: placeOf(after, token.home), limit: limit + 1, all, words: q };
    const found = await homeOf(c.env, token.home).conversations.conversationsOf(token.name, query);
    const conversations = found.slice(0, limit);
    const last = found.length > limit ? conversations.at(-1) : undefined;
    return json(c, { conversations, next: last ? `${last.last_at}.${last.id}` : null });
  },
);

function placeOf(cursor: string | undefined, home: string): Place | undefined {
  const [, last_at, id] = CURSOR.exec(cursor ?? "") ?? [];
  return last_at === undefined ? undefined : { last_at: Number(last_at), name: `${home}/api/${id}` };
}

/**
 * Shows the newest turns of a conversation, those before a place first. `before` is null when there are no earlier turns.
 */
route(
  conversations,
  "GET /v1/conversations/:id",
  {
    scope: "ask",
    path: { id: CONVERSATION },
    query: {
      /** `before` of the page before. */
      before: wholeNumber({ fallback: Number.MAX_SAFE_INTEGER }),
      limit: wholeNumber({ fallback: TURNS, max: TURNS_MAX }),
    },
  },
  async (c, { token, path: { id }, query }) => {
    const name = conversationName(token, id);
    await requireSeen(c, name);
    const page = await conversationOf(c.env, name).history(query);
    if (page.turns.length === 0) throw noConversation();
    return json(c, { id, ...page });
  },
);

const Sharing = z.strictObject({
  with: z.array(z.string().check(z.trim(), z.minLength(1), z.maxLength(200))).check(z.maxLength(READERS_MAX)),
});

/**
 * Shares a conversation with exactly these tokens. The token that began it always sees it. Only these may then read it, speak
 * in it and answer its questions. An empty list ends the sharing.
 */
route(
  conversations,
  "POST /v1/conversations/:id/share",
  { scope: "ask", path: { id: CONVERSATION }, body: Sharing },
  async (c, { token, path: { id }, body: { with: names } }) => {
    const name = await managed(c, token, id);
    if (!(await homeOf(c.env, token.home).conversations.shareConversation(name, names)))
      throw new HttpError(
        409,
        "too_many",
        "this home shares too many conversations; stop sharing others first",
      );
    return json(c, { id, shared_with: [...new Set(names)].sort() });
  },
);

const Naming = z.strictObject({ title: z.string().check(z.trim(), z.minLength(1), z.maxLength(TITLE_MAX)) });

/**
 * Renames a conversation. Whoever may delete it may rename it. The caller has to have begun it, or to be an owner or
 * administrator.
 */
route(
  conversations,
  "PATCH /v1/conversations/:id",
  { scope: "ask", path: { id: CONVERSATION }, body: Naming },
  async (c, { token, path: { id }, body: { title } }) => {
    const name = await managed(c, token, id);
    const renamed = await homeOf(c.env, token.home).conversations.renameConversation(name, title);
    if (renamed === undefined)
      throw new HttpError(
        409,
        "not_listed",
        "this conversation is not in the list: it has a title from its next turn on",
      );
    return json(c, { id, title: renamed });
  },
);

/**
 * Deletes a conversation with its turns and files. The caller has to have begun it, or to be an owner or administrator.
 */
route(
  conversations,
  "DELETE /v1/conversations/:id",
  { scope: "ask", path: { id: CONVERSATION } },
  async (c, { token, path: { id } }) => {
    await conversationOf(c.env, await managed(c, token, id)).forget();
    return nothing(c);
  },
);

/**
 * Passes when the caller began the conversation or may manage it.
 * @returns the conversation's name
 * @throws HttpError 404; 403 when it is only shared with them
 */
async function managed(c: Context<App>, token: ApiToken, id: string): Promise<string> {
  const name = conversationName(token, id);
  await requireSeen(c, name);
  const belongs = await conversationOf(c.env, name).belongs();
  // Deleting a conversation that does not exist is no error: the list may still name it.
  if (belongs ? mayManage(token, { kind: "conversation", by: belongs.principal }) : c.req.method === "DELETE")
    return name;
  if (!belongs) throw noConversation();
  throw new HttpError(
    403,
    "forbidden",
    "only whoever began this conversation may share, rename or delete it",
  );
}
