/** Begins the turn of a client's request, or finds the turn that the request's first try began. */
import type { Context } from "hono";
import type { StartedTurn } from "../../kernel/api/start-turn.ts";
import { conversationOf, withRetry } from "../../kernel/api/stubs.ts";
import type { ClientContext, ClientHistoryEntry } from "../../kernel/api/turns.ts";
import type { App } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { startAlone, startAndFollow, startAndWait } from "../../kernel/http/start-turn.ts";
import { traceOf } from "../../kernel/http/trace.ts";
import type { ApiToken } from "../../kernel/settings/tokens.ts";
import { type SortedMessages, storePictures } from "./client-messages.ts";
import { oncePlace, oncePlaces, type Place, placeOfCall } from "./conversation-key.ts";
import type { OwnTools } from "./own-tools.ts";
import { PACE } from "./sending.ts";

/** One turn runs and one waits. A third request to the same conversation gets 409. */
const UNFINISHED_MAX = 2;
/** The same for a chat whose responses may each be continued separately, and for clients that wait a bounded time. */
const UNFINISHED_MAX_BRANCHES = 8;
const BUSY_RETRY_S = 2;
/**
 * Chats with the same beginning share an object, which holds the rows of its turns in memory. When they have so many characters, a
 * new chat goes to the next object.
 */
const SHARED_MAX_CHARS = 4_000_000;

export type TurnRequest = {
  /** SHA-256 of the request's body. */
  hash: string;
  /** Undefined when the request names no conversation. */
  place: Place | undefined;
  sorted: SortedMessages;
  /** The turn to continue from, in a conversation that the client stores. */
  after?: string | undefined;
  /** The name of a configured model. */
  model: string | undefined;
  own: OwnTools;
  /** A response: what its client sent is shown to it later. False: it wants none that can be fetched. Absent: a chat. */
  stored?: boolean;
  /** The client waits for the answer during this request. */
  waits: boolean;
  /** The seconds that it waits at most; undefined: to the end. */
  wait: number | undefined;
  /** The client gets every event, or the end alone. Undefined: it gets neither now. */
  follows: "live" | "end" | undefined;
  /** The client hung up before it knew its turn. */
  left: (place: Place, turn: string) => void;
};

export type Begun = StartedTurn & { place: Place };

/** @throws HttpError 409 while the conversation is busy */
export async function beginTurn(c: Context<App>, token: ApiToken, asked: TurnRequest): Promise<Begun> {
  const idempotency = c.req.header("idempotency-key");
  if (idempotency !== undefined && (idempotency === "" || idempotency.length > 200))
    throw new HttpError(400, "invalid_header", "Idempotency-Key: expected 1 to 200 characters");
  const places = await placesFor(token, asked, idempotency);
  const lost = await firstTry(c, token, asked, places);
  if (lost) return lost;
  for (const place of places) {
    const started = await start(c, token, asked, place, idempotency);
    if (started) return { ...started, place };
  }
  c.header("retry-after", String(BUSY_RETRY_S));
  throw new HttpError(409, "conversation_busy", "this conversation still works on earlier messages");
}

/** @returns the conversations where the turn may begin, in order of preference. Without a named conversation the last one is always free. */
async function placesFor(
  token: ApiToken,
  { place, sorted }: TurnRequest,
  idempotency: string | undefined,
): Promise<Place[]> {
  if (place) return [place];
  if (sorted.object !== undefined) return [await placeOfCall(token, sorted.object)];
  // A repeat must find the first turn, whatever other chats have the same beginning.
  if (idempotency !== undefined) return [await oncePlace(token, `key ${idempotency}`)];
  const alike = await oncePlaces(token, sorted.beginning);
  return [...alike, await oncePlace(token, crypto.randomUUID())];
}

/** @returns undefined while other turns are unfinished there */
async function start(
  c: Context<App>,
  token: ApiToken,
  asked: TurnRequest,
  place: Place,
  idempotency: string | undefined,
): Promise<StartedTurn | undefined> {
  const { sorted, model, hash, waits, wait, stored } = asked;
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
      ...traceOf(c),
      ...(model !== undefined && { model, ...(mayReplace(c) && { replaceable: true as const }) }),
      ...(stored === false && { unstored: true as const }),
      ...(waits && { client: { request: hash, ...(wait !== undefined && { waits: wait }) } }),
      brought: toClientContext(asked, place, history),
    },
  };
  // Who does not wait for the end goes on asking meanwhile.
  const inKey = wait === undefined ? UNFINISHED_MAX : UNFINISHED_MAX_BRANCHES;
  const limit = place.key !== undefined ? inKey : isPinned ? UNFINISHED_MAX_BRANCHES : 1;
  const chars = limit === 1 ? SHARED_MAX_CHARS : undefined;
  const rule = { within: limit, ...(chars !== undefined && { chars }) };
  if (asked.follows === undefined) return await startAlone(c.env, place.name, turn, rule);
  if (asked.follows === "live") return await startAndFollow(c.env, place.name, turn, rule);
  const heldMs = Math.min((wait ?? Number.POSITIVE_INFINITY) * 1_000, PACE.patienceMs);
  return await startAndWait(c, place.name, turn, rule, heldMs, (id) => asked.left(place, id));
}

/** @returns true when the caller accepts another model while the named one is down */
function mayReplace(c: Context<App>): boolean {
  return c.req.header("x-edge-fallback")?.toLowerCase() === "on";
}

function toClientContext(
  { sorted, after, own, stored = false }: TurnRequest,
  place: Place,
  history: ClientHistoryEntry[],
): ClientContext {
  const { instructions, developer, results, hasHistory } = sorted;
  const { clientTools, none, wants, oneCall } = own;
  // In a named conversation our rows are the history, unless the client sends its own.
  const tells =
    place.key === undefined ? hasHistory || Object.keys(results).length === 0 : hasHistory || place.whole;
  return {
    ...(instructions !== "" && { instructions }),
    ...(stored && developer.length > 0 && { developer }),
    ...(none && { tools: false as const }),
    ...(clientTools.length > 0 && { clientTools, ...(oneCall && { oneCall }) }),
    ...(wants !== undefined && { wants }),
    ...(Object.keys(results).length > 0 && { results }),
    ...(after !== undefined && place.key === undefined ? { after } : tells && { history }),
  };
}

/**
 * OpenAI's clients repeat a request after a broken connection, and mark the repeat. The lost turn may still run or be done: a second
 * turn would make the devices act twice. Clients also repeat a refused request with the same body, and others may ask the same, so only a
 * lost turn of the same principal is found.
 * @returns undefined when there is no such turn
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
