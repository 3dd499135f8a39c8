/**
 * Finds the conversation of a request. OpenAI's clients are stateless by default, and each has its own way to name a chat: the
 * first name found counts. Names belong to a token: two tokens with the same name have different conversations.
 */
import { fromHex, sha256Hex, toBase64Url, toHex, tryFromBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import type { Context } from "hono";
import { callRef } from "../../kernel/api/turns.ts";
import type { App } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import type { ApiToken } from "../../kernel/settings/tokens.ts";

/** Short enough that a name and the token's tag fit an object's id (128 characters). */
const KEY = /^[A-Za-z0-9._:@-]{1,100}$/;
/** Values that clients send for a chat without an id. */
const NO_KEY = /^(|new|null|undefined|\{\{.*\}\})$/i;

export type Place = {
  /** `home/openai/id` of the object. */
  name: string;
  /** The conversation's id for the client; absent when the client stores the chat itself. */
  key?: string;
  /** The client sends the whole chat each time: a message that is missing was removed. */
  whole?: true;
};

/** The fields of a body that may name its conversation. */
export type ConversationFields = {
  metadata?: Record<string, unknown> | null | undefined;
  conversation?: string | { id: string } | null | undefined;
  user?: string | null | undefined;
};

/** @returns the conversation that a request names, or undefined @throws HttpError 400 when X-Edge-Conversation is invalid */
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

/** @param text the name of a chat @returns the object that has it for this token */
export async function placeOfKey(token: ApiToken, text: string): Promise<Place> {
  const key = KEY.test(text) ? text : `h.${(await sha256Hex(text)).slice(0, 32)}`;
  return { name: `${token.home}/openai/${await tagOf(token)}.${key}`, key };
}

/** @param seed the same seed gives the same object @returns the object of a chat that its client stores */
export async function oncePlace(token: ApiToken, seed: string): Promise<Place> {
  const hash = (await sha256Hex(seed)).slice(0, 32);
  return { name: `${token.home}/openai/once.${await tagOf(token)}.${hash}` };
}

/** So many objects are tried for chats with the same beginning. */
const ALIKE = 4;

/**
 * The same beginning gives the same objects. So the gateway remembers which texts came from strangers for as long as the chat
 * goes on (brought.ts).
 * @param beginning the person's first message; instructions are left out, since they may contain the time of day
 * @returns the objects that may have a chat that its client stores
 */
export async function oncePlaces(token: ApiToken, beginning: string): Promise<Place[]> {
  const seeds = Array.from({ length: ALIKE }, (_, at) => (at === 0 ? beginning : `${at} ${beginning}`));
  return await Promise.all(seeds.map((seed) => oncePlace(token, seed)));
}

/** Made of the token's name, so that a new token for the same person has the same conversations. */
async function tagOf(token: ApiToken): Promise<string> {
  return (await sha256Hex(token.name)).slice(0, 16);
}

/** The parts have a fixed length, since base64url may contain a `_`. */
const CALL_ID = /^ec_([A-Za-z0-9_-]{22})?_([0-9a-f]{12})$/;

/** @returns the id under which a client knows a call of its tool; in an unnamed chat the id also names the object */
export function clientCallId(place: Place, call: string): string {
  return `ec_${objectIn(place)}_${callRef(call)}`;
}

/** @returns the object of an unnamed chat in 22 characters; empty in a named one */
function objectIn({ name, key }: Place): string {
  const bytes = fromHex(/\.([0-9a-f]{32})$/.exec(name)?.[1] ?? "");
  return key === undefined && bytes ? toBase64Url(bytes) : "";
}

/** @returns the `callRef`, and the object of an unnamed chat; undefined when the id is not one of ours */
export function readClientCallId(id: string): { ref: string; object: string | undefined } | undefined {
  const [, place, ref] = CALL_ID.exec(id) ?? [];
  return ref === undefined ? undefined : { ref, object: readObject(place) };
}

function readObject(place: string | undefined): string | undefined {
  const hash = place === undefined ? undefined : tryFromBase64Url(place);
  return hash && toHex(hash);
}

/** @param object from `readClientCallId` @returns the conversation in which an unnamed chat continues */
export async function placeOfCall(token: ApiToken, object: string): Promise<Place> {
  return { name: `${token.home}/openai/once.${await tagOf(token)}.${object}` };
}

/** The turn, the object of an unnamed chat, and the item among those of the turn. */
const ITEM_ID = /^(msg|fc)_([0-9a-f]{32})([A-Za-z0-9_-]{22})?_[0-9a-f]{1,12}$/;

/** @param part hexadecimal digits that tell the item from others of its turn @returns an id by which the item is found again */
export function itemId(kind: "msg" | "fc", { turn, place }: ResponseRef, part: string): string {
  return `${kind}_${turn.replaceAll("-", "")}${objectIn(place)}_${part}`;
}

/** @returns the turn and, in an unnamed chat, its object; undefined when the id is not one of ours */
export function readItemId(id: string): { turn: string; object: string | undefined } | undefined {
  const [, , turn, place] = ITEM_ID.exec(id) ?? [];
  return turn === undefined ? undefined : { turn: uuidOf(turn), object: readObject(place) };
}

/** The content of a response's id. `createdAt`: epoch seconds. */
export type ResponseRef = { turn: string; place: Place; createdAt: number };

/** `resp_`, the turn's UUID, its time and the object's id: a response is found by its id alone. */
export function responseId({ turn, place, createdAt }: ResponseRef): string {
  const object = place.name.split("/").slice(2).join("/");
  return `resp_${turn.replaceAll("-", "")}${createdAt.toString(16).padStart(8, "0")}${toBase64Url(utf8(object))}`;
}

/** @returns undefined when the id is invalid or belongs to another token */
export async function readResponseId(token: ApiToken, id: string): Promise<ResponseRef | undefined> {
  const match = /^resp_([0-9a-f]{32})([0-9a-f]{8})([A-Za-z0-9_-]{1,180})$/.exec(id);
  if (match?.[1] === undefined || match[2] === undefined || match[3] === undefined) return undefined;
  const object = new TextDecoder().decode(tryFromBase64Url(match[3]));
  const tag = await tagOf(token);
  const isNamed = object.startsWith(`${tag}.`) && KEY.test(object.slice(tag.length + 1));
  const isOnce = object.startsWith(`once.${tag}.`) && /\.[0-9a-f]{32}$/.test(object);
  if (!isNamed && !isOnce) return undefined;
  return {
    turn: uuidOf(match[1]),
    place: { name: `${token.home}/openai/${object}`, ...(isNamed && { key: object.slice(tag.length + 1) }) },
    createdAt: Number.parseInt(match[2], 16),
  };
}

function uuidOf(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
