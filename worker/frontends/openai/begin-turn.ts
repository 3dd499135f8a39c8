/** From what a client asked to a turn: a new one, or the one that its first try began. */
import type { Context } from "hono";
import { conversationOf, withRetry } from "../../api/stubs.ts";
import type { ClientContext, ClientHistoryEntry } from "../../api/turns.ts";
import type { App } from "../../http/app.ts";
import { HttpError } from "../../http/errors.ts";
import type { ApiToken } from "../../settings/tokens.ts";
import { type SortedMessages, storePictures } from "./client-messages.ts";
import { oncePlace, oncePlaces, type Place, placeOfCall } from "./conversation-key.ts";
import type { OwnTools } from "./own-tools.ts";

/** One works and one waits: whoever asks a third time into the same conversation is told to come back. */
const UNFINISHED_MAX = 2;
/** Responses that go on from those of one chat, each from its own. */
const UNFINISHED_MAX_BRANCHES = 8;
const BUSY_RETRY_S = 2;
/**
 * Chats that begin alike share an object, which holds the rows of its turns in memory: so many characters of them, and chats that
 * begin after that go to the next object.
 */
const SHARED_MAX_CHARS = 4_000_000;

export type TurnRequest = {
  /** Of the request's body. */
  hash: string;
  /** Undefined: it names no conversation, and waits for none. */
  place: Place | undefined;
  sorted: SortedMessages;
  /** The turn to go on from, in a conversation that its client keeps. */
  after?: string | undefined;
  /** One of the configured. */
  model: string | undefined;
  own: OwnTools;
  /** The client waits for the answer on this request. */
  waits: boolean;
};

export type Begun = { turn: string; place: Place };

/** @throws HttpError busy */
export async function beginTurn(c: Context<App>, token: ApiToken, asked: TurnRequest): Promise<Begun> {
  const idempotency = c.req.header("idempotency-key");
  if (idempotency !== undefined && (idempotency === "" || idempotency.length > 200))
    throw new HttpError(400, "invalid_header", "Idempotency-Key: expected 1 to 200 characters");
  const places = await placesFor(token, asked, idempotency);
  const lost = await firstTry(c, token, asked, places);
  if (lost) return lost;
  for (const place of places) {
    const turn = await start(c, token, asked, place, idempotency);
    if (turn !== undefined) return { turn, place };
  }
  c.header("retry-after", String(BUSY_RETRY_S));
  throw new HttpError(409, "conversation_busy", "this conversation still works on earlier messages");
}

/** The places where it may begin, in this order; each has to be free. The last one is, where no conversation is named. */
async function placesFor(
  token: ApiToken,
  { place, sorted }: TurnRequest,
  idempotency: string | undefined,
): Promise<Place[]> {
  if (place) return [place];
  if (sorted.object !== undefined) return [await placeOfCall(token, sorted.object)];
  // A repeat has to find the first one, however many chats begin alike.
  if (idempotency !== undefined) return [await oncePlace(token, `key ${idempotency}`)];
  const alike = await oncePlaces(token, sorted.beginning);
  return [...alike, await oncePlace(token, crypto.randomUUID())];
}

/** @returns the turn's id; undefined: others are at work there */
async function start(
  c: Context<App>,
  token: ApiToken,
  asked: TurnRequest,
  place: Place,
  idempotency: string | undefined,
): Promise<string | undefined> {
  const { sorted, model, hash, waits } = asked;
  const isPinned = asked.place !== undefined || sorted.object !== undefined;
  const id = crypto.randomUUID();
  const { images, history, added } = await storePictures(sorted, id, place.name);
  const turn = {
    id,
    idempotency,
    text: sorted.text,
    ...(sorted.note !== undefined && { note: sorted.note }),
    images,
    media: added,
    origin: {
      principal: token.name,
      role: token.role,
      channel: "openai",
      ...(model !== undefined && { model, ...(mayReplace(c) && { replaceable: true as const }) }),
      ...(waits && { client: { request: hash } }),
      brought: toClientContext(asked, place, history),
    },
  };
  const limit = place.key !== undefined ? UNFINISHED_MAX : isPinned ? UNFINISHED_MAX_BRANCHES : 1;
  const chars = limit === 1 ? SHARED_MAX_CHARS : undefined;
  const started = await withRetry(
    async () => await conversationOf(c.env, place.name).startWithin(limit, turn, chars),
  );
  return started?.turn;
}

/** The caller takes another model's answer when the one that it names is down. */
function mayReplace(c: Context<App>): boolean {
  return c.req.header("x-edge-fallback")?.toLowerCase() === "on";
}

function toClientContext(
  { sorted, after, own }: TurnRequest,
  place: Place,
  history: ClientHistoryEntry[],
): ClientContext {
  const { instructions, results, hasHistory } = sorted;
  const { clientTools, none, wants, oneCall } = own;
  // In a conversation that has a name our own rows are the history, unless the client tells its own.
  const tells =
    place.key === undefined ? hasHistory || Object.keys(results).length === 0 : hasHistory || place.whole;
  return {
    ...(instructions !== "" && { instructions }),
    ...(none && { tools: false as const }),
    ...(clientTools.length > 0 && { clientTools, ...(oneCall && { oneCall }) }),
    ...(wants !== undefined && { wants }),
    ...(Object.keys(results).length > 0 && { results }),
    ...(after !== undefined && place.key === undefined ? { after } : tells && { history }),
  };
}

/**
 * OpenAI's clients send a request again when its connection broke, and say so. The turn that they lost may be at work,
 * or done: a second one would have the devices act twice. A request that was refused is sent again as well, in the very
 * same words, and others may ask the same: these get no answer that is somebody else's.
 */
async function firstTry(
  c: Context<App>,
  token: ApiToken,
  { hash }: TurnRequest,
  places: readonly Place[],
): Promise<Begun | undefined> {
  if (!/^[1-9]\d?$/.test(c.req.header("x-stainless-retry-count") ?? "")) return undefined;
  const looks = places.map(async (place) => {
    const turn = await withRetry(async () => await conversationOf(c.env, place.name).adopt(hash, token.name));
    return turn === undefined ? undefined : { turn, place };
  });
  return (await Promise.all(looks)).find((lost) => lost !== undefined);
}
