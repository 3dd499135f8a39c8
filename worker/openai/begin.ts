/** From what a client asked to a turn: a new one, or the one that its first try began. */
import type { Context } from "hono";
import type { ApiToken } from "../auth.ts";
import type { Brought } from "../conversation/brought.ts";
import { type App, HttpError } from "../http.ts";
import { type ConversationStub, conversationOf, insist } from "../objects.ts";
import type { Place } from "./conversation-key.ts";
import { keepPictures, type Sorted } from "./said.ts";

/** One works and one waits: whoever asks a third time into the same conversation is told to come back. */
const UNFINISHED_MAX = 2;
/** Chats that their clients keep share an object when they begin alike. */
const UNFINISHED_MAX_SHARED = 8;
const BUSY_RETRY_S = 2;
/** OpenAI's clients give up a try after ten minutes. */
const RETRY_WITHIN_MS = 15 * 60_000;

export type Asked = {
  place: Place;
  sorted: Sorted;
  /** The turn to go on from, in a conversation that its client keeps. */
  after?: string | undefined;
  /** One of the configured. */
  model: string | undefined;
  /** False: none are offered. */
  tools: boolean;
};

/** @returns the turn's id. @throws HttpError busy */
export async function begin(c: Context<App>, token: ApiToken, asked: Asked): Promise<string> {
  const { place, sorted, model } = asked;
  const stub = () => conversationOf(c.env, place.name);
  const known = await firstTry(c, stub(), sorted.text);
  if (known !== undefined) return known;
  const idempotency = c.req.header("idempotency-key");
  if (idempotency !== undefined && (idempotency === "" || idempotency.length > 200))
    throw new HttpError(400, "invalid_header", "Idempotency-Key: expected 1 to 200 characters");
  const id = crypto.randomUUID();
  const { images, history, added } = await keepPictures(sorted, id, place.name);
  const limit = place.key === undefined ? UNFINISHED_MAX_SHARED : UNFINISHED_MAX;
  const turn = {
    id,
    idempotency,
    text: sorted.text,
    images,
    media: added,
    origin: {
      principal: token.name,
      role: token.role,
      channel: "openai",
      ...(model !== undefined && { model }),
      brought: broughtBy(asked, history),
    },
  };
  const started = await insist(async () => await stub().startWithin(limit, turn));
  if (started) return started.turn;
  c.header("retry-after", String(BUSY_RETRY_S));
  throw new HttpError(409, "conversation_busy", "this conversation still works on earlier messages");
}

function broughtBy({ place, sorted, after, tools }: Asked, history: Brought["history"]): Brought {
  return {
    ...(sorted.instructions !== "" && { instructions: sorted.instructions }),
    ...(!tools && { tools: false as const }),
    // In a conversation that has a key our own rows are the history: they know what the devices said.
    ...(place.key === undefined && (after === undefined ? { history: history ?? [] } : { after })),
  };
}

/**
 * OpenAI's clients send a request again when its connection broke, and say so. Its turn may be at work, or done: a
 * second one would have the devices act twice.
 */
async function firstTry(c: Context<App>, stub: ConversationStub, text: string): Promise<string | undefined> {
  if (!/^[1-9]\d?$/.test(c.req.header("x-stainless-retry-count") ?? "")) return undefined;
  const last = (await stub.history()).at(-1);
  if (last?.text !== text || last.created_at < Date.now() - RETRY_WITHIN_MS) return undefined;
  const neverActed = last.status === "cancelled" && last.calls.length === 0;
  return neverActed ? undefined : last.turn;
}
