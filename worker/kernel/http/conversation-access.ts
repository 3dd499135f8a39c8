/** Checks which conversations a caller may see: before a request, and repeatedly during a stream. */
import type { Context } from "hono";
import { maySee, type Owned } from "../api/may-see.ts";
import { conversationOf, homeOf } from "../api/stubs.ts";
import type { Env } from "../env.ts";
import type { ApiToken } from "../settings/tokens.ts";
import type { App } from "./app.ts";
import { requireValid } from "./auth.ts";
import { HttpError } from "./errors.ts";
import { text } from "./fields.ts";

export const CONVERSATION = text(
  /^[A-Za-z0-9._:@-]{1,128}$/,
  "a conversation's id: 1 to 128 of A-Z a-z 0-9 . _ : @ -",
);

/** The name of the object of a conversation of the API, in the home of the caller's token. */
export function conversationName({ home }: ApiToken, id: string): string {
  return `${home}/api/${id}`;
}

/**
 * Passes when the caller may see this conversation, or when it is still empty.
 * @param name `home/channel/id`
 * @returns `own` when the caller sees it only because they began it, or will begin it
 * @throws HttpError 404, with the same words as for a conversation that does not exist
 */
export async function requireSeen(c: Context<App>, name: string): Promise<"own" | "any"> {
  const seen = await seenAs(c.env, c.get("token"), name, "conversation");
  if (seen) return seen;
  throw c.req.path.endsWith("/messages") ? idInUse() : noConversation();
}

export async function isSeen(c: Context<App>, name: string, kind: Owned["kind"]): Promise<boolean> {
  return (await seenAs(c.env, c.get("token"), name, kind)) !== undefined;
}

/** @returns undefined: the caller may not see it; `own` as with `requireSeen` */
export async function seenAs(
  env: Env,
  token: ApiToken,
  name: string,
  kind: Owned["kind"],
): Promise<"own" | "any" | undefined> {
  // A caller who may see all conversations needs no answer from the object.
  if (maySee(token, { kind, by: undefined })) return "any";
  const belongs = await conversationOf(env, name).belongs();
  const by = belongs ? belongs.principal : token.name;
  if (maySee(token, { kind, by })) return "own";
  const sharedWith = await homeOf(env, token.home).conversations.sharedWith(name);
  return maySee(token, { kind, by, sharedWith }) ? "any" : undefined;
}

export function idInUse(): HttpError {
  return new HttpError(
    404,
    "not_found",
    "no conversation of yours, and its id is in use: choose another one",
  );
}

/** For a stream: meanwhile the token may end, or the conversation be shared no longer. @returns a function that throws HttpError then */
export function recheckSeen(c: Context<App>, name: string): () => Promise<void> {
  return async () => {
    await requireValid(c.env, c.get("token"));
    await requireSeen(c, name);
  };
}

export function noConversation(): HttpError {
  return new HttpError(404, "not_found", "no such conversation");
}
