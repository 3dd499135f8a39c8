/**
 * Which conversation a request belongs to. OpenAI's clients are stateless by default, and each names its chats in
 * its own way: the first name found counts. A name is its token's own: two tokens with the same one do not meet.
 */
import { fromHex, sha256Hex, toBase64Url, toHex, tryFromBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import type { Context } from "hono";
import { callRef } from "../../conversation/client-tools.ts";
import type { App } from "../../http/app.ts";
import { HttpError } from "../../http/errors.ts";
import type { ApiToken } from "../../settings/tokens.ts";

/** With the token's tag before it, it still fits an object's id (128 characters). */
const KEY = /^[A-Za-z0-9._:@-]{1,100}$/;
/** What clients send for a chat that has no id yet. */
const NO_KEY = /^(|new|null|undefined|\{\{.*\}\})$/i;

export type Place = {
  /** `home/openai/id` of the object. */
  name: string;
  /** The conversation's id for the client; absent in one that the client keeps itself. */
  key?: string;
  /** Its client sends the whole chat each time, so what it does not send is no part of it any more. */
  whole?: true;
};

/** What a body may say of its conversation. */
export type ConversationFields = {
  metadata?: Record<string, unknown> | null | undefined;
  conversation?: string | { id: string } | null | undefined;
  user?: string | null | undefined;
};

/** The conversation that a request names, or undefined. @throws HttpError a name of ours that is none */
export async function namedPlace(
  c: Context<App>,
  token: ApiToken,
  body: ConversationFields,
  response?: Place,
): Promise<Place | undefined> {
  const own = c.req.header("x-edge-conversation");
  if (own !== undefined && !KEY.test(own))
    throw new HttpError(
      400,
      "invalid_header",
      "X-Edge-Conversation: expected 1 to 100 of A-Z a-z 0-9 . _ : @ -",
    );
  const { metadata, conversation, user } = body;
  const chats = [c.req.header("x-openwebui-chat-id"), c.req.header("x-conversation-id")];
  const inMetadata = metadata?.conversation_id;
  const inBody = typeof conversation === "string" ? conversation : conversation?.id;
  const names = [
    own,
    ...chats,
    c.req.header("x-session-id"),
    typeof inMetadata === "string" ? inMetadata : undefined,
    inBody,
  ];
  const key = names.find((name) => name !== undefined && !NO_KEY.test(name.trim()));
  if (key !== undefined) {
    const place = await placeOfKey(token, key.trim());
    return key !== own && chats.includes(key) ? { ...place, whole: true } : place;
  }
  if (response) return response;
  if (typeof user === "string" && !NO_KEY.test(user.trim())) return await placeOfKey(token, `user:${user}`);
  return undefined;
}

async function placeOfKey(token: ApiToken, text: string): Promise<Place> {
  const key = KEY.test(text) ? text : `h.${(await sha256Hex(text)).slice(0, 32)}`;
  return { name: `${token.home}/openai/${await tagOf(token)}.${key}`, key };
}

/** An object for a chat that its client keeps. @param seed the same one leads to the same object */
export async function oncePlace(token: ApiToken, seed: string): Promise<Place> {
  const hash = (await sha256Hex(seed)).slice(0, 32);
  return { name: `${token.home}/openai/once.${await tagOf(token)}.${hash}` };
}

/** Of chats that begin alike, so many at once have an object that is found again. */
const ALIKE = 4;

/**
 * The objects where a chat that its client keeps is looked for: the same beginning leads to the same objects, so that what came from
 * strangers is remembered for as long as the chat goes on (brought.ts).
 * @param beginning the first words of the person; instructions may hold the time of day
 */
export async function oncePlaces(token: ApiToken, beginning: string): Promise<Place[]> {
  const seeds = Array.from({ length: ALIKE }, (_, at) => (at === 0 ? beginning : `${at} ${beginning}`));
  return await Promise.all(seeds.map((seed) => oncePlace(token, seed)));
}

/** Of a token's name, not of the token: a new token for the same person keeps the conversations. */
async function tagOf(token: ApiToken): Promise<string> {
  return (await sha256Hex(token.name)).slice(0, 16);
}

/** Its parts have a fixed length: base64url may hold a `_`. */
const CALL_ID = /^ec_([A-Za-z0-9_-]{22})?_([0-9a-f]{12})$/;

/** A call that its client is to make, as the client knows it: where it is kept, unless the client names that, and which. */
export function clientCallId({ name, key }: Place, call: string): string {
  const hash = /\.([0-9a-f]{32})$/.exec(name)?.[1] ?? "";
  const bytes = fromHex(hash);
  return `ec_${key === undefined && bytes ? toBase64Url(bytes) : ""}_${callRef(call)}`;
}

/** @returns its `callRef`, and the object of a chat without a name; undefined: it is none of ours */
export function readClientCallId(id: string): { ref: string; object: string | undefined } | undefined {
  const [, place, ref] = CALL_ID.exec(id) ?? [];
  if (ref === undefined) return undefined;
  const hash = place === undefined ? undefined : tryFromBase64Url(place);
  return { ref, object: hash && toHex(hash) };
}

/** The conversation where a chat without a name goes on. @param object as `readClientCallId` has it */
export async function placeOfCall(token: ApiToken, object: string): Promise<Place> {
  return { name: `${token.home}/openai/once.${await tagOf(token)}.${object}` };
}

/** A response as its id says it: which turn, where, and since when (s). */
export type ResponseRef = { turn: string; place: Place; createdAt: number };

/** `resp_`, the turn's UUID, its time, and the object's id: nothing has to be kept to find it again. */
export function responseId({ turn, place, createdAt }: ResponseRef): string {
  const object = place.name.split("/").slice(2).join("/");
  return `resp_${turn.replaceAll("-", "")}${createdAt.toString(16).padStart(8, "0")}${toBase64Url(utf8(object))}`;
}

/** Undefined: it is none, or another token's. */
export async function readResponseId(token: ApiToken, id: string): Promise<ResponseRef | undefined> {
  const match = /^resp_([0-9a-f]{32})([0-9a-f]{8})([A-Za-z0-9_-]{1,180})$/.exec(id);
  if (match?.[1] === undefined || match[2] === undefined || match[3] === undefined) return undefined;
  const object = new TextDecoder().decode(tryFromBase64Url(match[3]));
  const tag = await tagOf(token);
  const isNamed = object.startsWith(`${tag}.`) && KEY.test(object.slice(tag.length + 1));
  const isOnce = object.startsWith(`once.${tag}.`) && /\.[0-9a-f]{32}$/.test(object);
  if (!isNamed && !isOnce) return undefined;
  return {
    turn: match[1].replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
    place: { name: `${token.home}/openai/${object}`, ...(isNamed && { key: object.slice(tag.length + 1) }) },
    createdAt: Number.parseInt(match[2], 16),
  };
}
