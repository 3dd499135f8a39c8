/** A conversation's turns: begins, shows, streams and cancels them. */
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import { isPictureUrl, mediaId, PICTURE_URL, separateImages } from "../api/media.ts";
import { modelsAt } from "../api/models-at.ts";
import type { StartedTurn } from "../api/start-turn.ts";
import { conversationOf } from "../api/stubs.ts";
import type { ConversationEvent, FollowedEvent, TurnEvent } from "../api/turn-events.ts";
import type { NewTurn } from "../api/turns.ts";
import { type App, newRoutes } from "../http/app.ts";
import {
  CONVERSATION,
  conversationName,
  idInUse,
  recheckSeen,
  requireSeen,
} from "../http/conversation-access.ts";
import { HttpError } from "../http/errors.ts";
import { anyText, optionalText, text, wholeNumber } from "../http/fields.ts";
import { SSE, socketEventStream } from "../http/object-stream.ts";
import { readBody, UUID } from "../http/request.ts";
import { type Answer, json, route, typedAnswer } from "../http/route.ts";
import { startAndFollow, startAndWait } from "../http/start-turn.ts";
import { traceOf } from "../http/trace.ts";
import { JSON_PATIENCE_MS, turnResult, turnStream } from "../http/turn-stream.ts";
import { applyWait, PREFER, resultWithin, WITH_NEXT_MESSAGE } from "../http/wait.ts";

export const turns = newRoutes();

const Message = z.strictObject({
  text: z.string().check(z.trim(), z.minLength(1), z.maxLength(32_000)),
  /** The message joins a turn that still waits, as when a person sends several messages in a row in a chat. */
  merge: z.optional(z.boolean()),
  /** The name of a configured model. */
  model: z.optional(z.string().check(z.maxLength(200))),
  /** Another model may answer when the named one is down. */
  fallback: z.optional(z.boolean()),
  images: z.optional(
    z
      .array(z.string().check(z.maxLength(512 * 1024), z.refine(isPictureUrl, PICTURE_URL)))
      .check(z.maxLength(8)),
  ),
});

const SENDING = {
  scope: "ask",
  path: { id: CONVERSATION },
  headers: {
    /** `text/event-stream` answers with the turn's events as they happen. */
    accept: anyText,
    /** `wait=N`: how many seconds the client waits for the answer as JSON. */
    prefer: PREFER,
    /** The same key again gets the same turn: a request can be repeated when its answer was lost. */
    "idempotency-key": optionalText(/^.{1,200}$/su, "1 to 200 characters"),
    /** `cancel`: the turn is cancelled when the client hangs up. */
    "edgecall-on-hangup": anyText,
  },
  // The conversation is looked at before the body is.
  reads: Message,
} as const;

/**
 * Begins a turn and answers with its result: as events where the client accepts them, else as JSON within 25 s, or within the
 * time that the client prefers. Then the answer says what the turn waits for. 202 with `{turn, status}` after 25 s. The
 * header `edgecall-on-hangup: cancel` cancels the turn when the client hangs up.
 */
route(turns, "POST /v1/conversations/:id/messages", SENDING, async (c, { token, path, headers }) => {
  const name = conversationName(token, path.id);
  const seen = await requireSeen(c, name);
  const message = await readBody(c, Message);
  const { model } = message;
  if (model !== undefined) await requireModel(c, token.home, model);
  const idempotency = headers["idempotency-key"];
  const isStream = headers.accept?.toLowerCase().includes("text/event-stream") ?? false;
  const wait = isStream ? undefined : headers.prefer;
  const id = crypto.randomUUID();
  const pictures = await separateImages(message.images ?? [], (n) => mediaId(`${id}-${n}`, name)).catch(
    () => {
      throw new HttpError(400, "invalid_body", "images: a data: URL holds no base64");
    },
  );
  const turn: NewTurn = {
    id,
    idempotency,
    ...(message.merge && { merge: true }),
    text: message.text,
    images: pictures.images,
    media: pictures.added,
    origin: {
      principal: token.name,
      role: token.role,
      channel: "api",
      ...(wait !== undefined && { client: { request: id, waits: wait } }),
      ...traceOf(c),
      ...(model !== undefined && { model, ...(message.fallback && { replaceable: true as const }) }),
    },
  };
  const hangsUp = headers["edgecall-on-hangup"] === "cancel" ? canceller(c, name) : () => {};
  const waitMs = wait === undefined ? JSON_PATIENCE_MS : wait * 1_000;
  const started = isStream
    ? await startAndFollow(c.env, name, turn, seen)
    : await startAndWait(c, name, turn, seen, Math.min(waitMs, JSON_PATIENCE_MS), hangsUp);
  if (!started) throw idInUse();
  c.header("edgecall-turn", started.turn);
  c.req.raw.signal.addEventListener("abort", () => hangsUp(started.turn));
  if (isStream) return events(c, name, started, 0);
  if (wait !== undefined) {
    applyWait(c, wait);
    const patience = { seconds: wait, ends: WITH_NEXT_MESSAGE };
    const found = await resultWithin(c, name, started, patience, c.req.raw.signal, recheckSeen(c, name));
    if (!found) return json(c, { turn: started.turn, status: "running" }, 202);
    return found.status === "running" ? json(c, found, 202) : json(c, found);
  }
  const result = await turnResult(c.env, name, started, JSON_PATIENCE_MS, c.req.raw.signal);
  return result ? json(c, result) : json(c, { turn: started.turn, status: "running" }, 202);
});

const TURN = {
  scope: "ask",
  path: { id: CONVERSATION, turn: text(UUID, "a turn's id, a UUID") },
} as const;

/** Shows a turn, finished or not. */
route(turns, "GET /v1/conversations/:id/turns/:turn", TURN, async (c, { token, path: { id, turn } }) => {
  const name = conversationName(token, id);
  await requireSeen(c, name);
  const result = await conversationOf(c.env, name).look(turn);
  if (!result) throw noTurn();
  return json(c, result);
});

/** Streams the events of a turn to its end: those so far, then those to come. */
route(
  turns,
  "GET /v1/conversations/:id/turns/:turn/events",
  {
    ...TURN,
    headers: {
      /** The id of the last event that the client has. */
      "last-event-id": wholeNumber({ fallback: 0, min: 0 }),
    },
  },
  async (c, { token, path: { id, turn }, headers }) => {
    const name = conversationName(token, id);
    await requireSeen(c, name);
    if (!(await conversationOf(c.env, name).look(turn))) throw noTurn();
    return events(c, name, { turn }, headers["last-event-id"]);
  },
);

/** Cancels a turn: its devices are told to stop. */
route(
  turns,
  "POST /v1/conversations/:id/turns/:turn/cancel",
  TURN,
  async (c, { token, path: { id, turn } }) => {
    const name = conversationName(token, id);
    await requireSeen(c, name);
    const result = await conversationOf(c.env, name).cancel(turn);
    if (!result) throw noTurn();
    return json(c, result);
  },
);

/**
 * Streams the events of every turn of a conversation, later turns included, whichever channel they come from. The stream does
 * not end by itself, and costs nothing while nothing happens. It begins with `open`. Turns that run already are told from
 * their beginning. A client that connects again after a break first reads the turns.
 */
route(
  turns,
  "GET /v1/conversations/:id/events",
  { scope: "ask", path: { id: CONVERSATION } },
  async (c, { token, path: { id } }) => {
    const name = conversationName(token, id);
    await requireSeen(c, name);
    const eventsOf = async (message: string | undefined) => {
      // Meanwhile somebody else may have begun the empty conversation, or stopped sharing it.
      if (message !== undefined && beginsTurn(message)) await recheckSeen(c, name)();
      return followedEvent(message);
    };
    const stream = socketEventStream(
      conversationOf(c.env, name),
      "/follow",
      eventsOf,
      c.req.raw.signal,
      recheckSeen(c, name),
    );
    return typedAnswer<ConversationEvent, 200, "text/event-stream">(c.body(stream, 200, SSE));
  },
);

function noTurn(): HttpError {
  return new HttpError(404, "not_found", "no such turn");
}

function events(
  c: Context<App>,
  name: string,
  turn: StartedTurn,
  after: number,
): Answer<TurnEvent, 200, "text/event-stream"> {
  const stream = turnStream(c.env, name, turn, after, c.req.raw.signal, recheckSeen(c, name));
  return typedAnswer(c.body(stream, 200, SSE));
}

/** For a client that asks once: when it hangs up, nobody needs the answer. */
function canceller(c: Context<App>, name: string): (turn: string) => void {
  return (turn) => c.executionCtx.waitUntil(conversationOf(c.env, name).cancel(turn));
}

/** @throws HttpError 400 */
async function requireModel(c: Context<App>, home: string, name: string): Promise<void> {
  const names = (await modelsAt(c.env, home)).map((model) => model.name);
  if (names.includes(name)) return;
  throw new HttpError(
    400,
    "invalid_body",
    `model: there is no '${name}'; there are: ${names.join(", ") || "none"}`,
  );
}

function beginsTurn(message: string): boolean {
  return (JSON.parse(message) as FollowedEvent).event === "turn";
}

/** Makes the server-sent event of a message from the conversation; undefined makes the first one. */
function followedEvent(message: string | undefined): string {
  if (message === undefined) return "event: open\ndata: {}\n\n";
  // SAFETY: our own object sent it.
  const event = JSON.parse(message) as FollowedEvent;
  const data = JSON.stringify({ ...event.data, turn: event.turn });
  return `event: ${event.event}\ndata: ${data}\n\n`;
}
