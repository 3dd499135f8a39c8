/**
 * The Worker is the waiting room: it holds the caller's response while the objects sleep, over a socket to
 * the Conversation, and attaches again where it left off when that socket closes early (a deploy, an
 * eviction, a crash). Wall time of a Worker costs nothing; time of an object does.
 */

import type { TurnResult } from "../api/answers.ts";
import { conversationOf } from "../api/objects.ts";
import type { TurnEvent } from "../conversation/turn-view.ts";
import type { FollowedEvent } from "../conversation/waiters.ts";
import type { Env } from "../env.ts";
import { HttpError } from "./http.ts";

/** A JSON caller gets its answer, or after this long the turn's address to look at. */
export const JSON_PATIENCE_MS = 25_000;
/** Proxies close a silent stream after 60 to 100 s. */
const KEEPALIVE_MS = 15_000;
/** Attempts in a row to attach again, and the pause between them: together about 15 s. */
const REATTACH_TRIES = 15;
const REATTACH_PAUSE_MS = 1_000;

/** Headers of server-sent events. */
export const SSE = { "content-type": "text/event-stream", "cache-control": "no-store" };

/** How often a stream asks whether its caller still may hear it. An object, so that a test can set it. */
export const RECHECK = { everyMs: 30_000 };

/** Throws HttpError once the token counts no more, or the caller may not see the conversation any more. */
export type StillMay = () => Promise<unknown>;

/** A signal that also fires when the caller may not go on. @returns `end` stops the asking */
export function whileAllowed(signal: AbortSignal, stillMay: StillMay | undefined) {
  const stop = new AbortController();
  const ask = async () => {
    try {
      await stillMay?.();
    } catch (error) {
      // Anything else: the object is being replaced, and the next time tells.
      if (error instanceof HttpError) stop.abort();
    }
  };
  const timer = stillMay && setInterval(() => void ask(), RECHECK.everyMs);
  return { signal: AbortSignal.any([signal, stop.signal]), end: () => clearInterval(timer) };
}

/** Opens the socket of an object's waiting room; a stub that threw is broken, so each try takes a new one. */
async function open(
  stub: { fetch(request: Request): Promise<Response> },
  path: string,
): Promise<WebSocket | "gone"> {
  const response = await stub.fetch(
    new Request(`https://object${path}`, { headers: { upgrade: "websocket" } }),
  );
  if (response.status === 404 || response.status === 410) return "gone";
  if (!response.webSocket) throw new Error(`no socket: ${response.status}`);
  response.webSocket.accept();
  return response.webSocket;
}

/** Messages of a socket until it closes or the signal fires. */
async function* messages(socket: WebSocket, signal: AbortSignal): AsyncGenerator<string> {
  const queue: string[] = [];
  let wake: () => void = () => {};
  let closed = false;
  const close = () => {
    closed = true;
    wake();
  };
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") queue.push(data);
    wake();
  });
  socket.addEventListener("close", close);
  socket.addEventListener("error", close);
  signal.addEventListener("abort", close);
  try {
    while (!signal.aborted) {
      const text = queue.shift();
      if (text !== undefined) yield text;
      else if (closed) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener("abort", close);
    socket.close(1000, "bye");
  }
}

/**
 * The events of a turn after a seq, to its end, whatever happens to the object meanwhile.
 * @param live all of them; else its end alone
 */
export async function* turnEvents(
  env: Env,
  name: string,
  turn: string,
  after: number,
  live: boolean,
  hangup: AbortSignal,
  stillMay?: StillMay,
): AsyncGenerator<TurnEvent> {
  const allowed = whileAllowed(hangup, stillMay);
  try {
    yield* eventsWhile(allowed.signal, env, name, turn, after, live);
  } finally {
    allowed.end();
  }
}

async function* eventsWhile(
  signal: AbortSignal,
  env: Env,
  name: string,
  turn: string,
  after: number,
  live: boolean,
): AsyncGenerator<TurnEvent> {
  let seen = after;
  /** There are deltas that no message has made good yet. */
  let halfSaid = false;
  for (let tries = 0; tries < REATTACH_TRIES && !signal.aborted; tries += 1) {
    if (tries > 0) await pause(REATTACH_PAUSE_MS, signal);
    try {
      const socket = await open(
        conversationOf(env, name),
        `/attach?turn=${turn}&after=${seen}${live ? "&live" : ""}`,
      );
      if (socket === "gone") return;
      for await (const text of messages(socket, signal)) {
        // SAFETY: our own object sent it.
        const event = JSON.parse(text) as TurnEvent;
        tries = 0;
        if ("id" in event) seen = Math.max(seen, event.id);
        if (event.event === "delta") halfSaid = true;
        else if (event.event === "message" || event.event === "reset") halfSaid = false;
        yield event;
        if (event.event === "done") return;
      }
    } catch {
      // The object is being replaced; the next try reaches the new one.
    }
    // Whether the object asks the model again or goes on, it cannot tell what of the text was seen here.
    if (halfSaid) yield { event: "reset", data: {} };
    halfSaid = false;
  }
}

/**
 * The turn's result, or undefined when patience ran out.
 * @param probe somebody asks whether the client is still there
 */
export async function turnResult(
  env: Env,
  name: string,
  turn: string,
  patienceMs: number,
  hangup: AbortSignal,
  probe: () => void = () => {},
  stillMay?: StillMay,
): Promise<TurnResult | undefined> {
  const signal = AbortSignal.any([hangup, AbortSignal.timeout(patienceMs)]);
  for await (const event of turnEvents(env, name, turn, 0, false, signal, stillMay))
    if (event.event === "done") return event.data;
    else if (event.event === "probe") probe();
  return undefined;
}

/** The same as server-sent events: `id:` is the seq that `Last-Event-ID` brings back. */
export function turnStream(
  env: Env,
  name: string,
  turn: string,
  after: number,
  hangup: AbortSignal,
  stillMay: StillMay,
): ReadableStream<Uint8Array> {
  const stop = new AbortController();
  const signal = AbortSignal.any([hangup, stop.signal]);
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      const write = (text: string) => {
        if (!signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const keepalive = setInterval(() => write(": keep-alive\n\n"), KEEPALIVE_MS);
      try {
        const events = turnEvents(env, name, turn, after, true, signal, stillMay);
        for await (const event of events) write(sse(event));
      } finally {
        clearInterval(keepalive);
        if (!signal.aborted) controller.close();
      }
    },
    cancel() {
      stop.abort();
    },
  });
}

/**
 * Messages of a waiting room as server-sent events, until it closes (a deploy, an eviction) or the client goes. The client
 * comes again: what it gets first is how things stand.
 * @param said the events that a message makes; called with undefined first
 */
export function roomStream(
  stub: { fetch(request: Request): Promise<Response> },
  path: string,
  said: (message: string | undefined) => Promise<string>,
  hangup: AbortSignal,
  stillMay: StillMay,
): ReadableStream<Uint8Array> {
  const stop = new AbortController();
  const allowed = whileAllowed(AbortSignal.any([hangup, stop.signal]), stillMay);
  const { signal } = allowed;
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      const write = (text: string) => {
        if (!signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const keepalive = setInterval(() => write(": keep-alive\n\n"), KEEPALIVE_MS);
      try {
        const socket = await open(stub, path);
        if (socket === "gone") return;
        const queue = messages(socket, signal);
        // Asked for before the first look, so that nothing falls between the two.
        let next = queue.next();
        write(await said(undefined));
        for (let message = await next; !message.done; message = await next) {
          next = queue.next();
          write(await said(message.value));
        }
      } catch {
        // The object is being replaced.
      } finally {
        clearInterval(keepalive);
        allowed.end();
        if (!hangup.aborted && !stop.signal.aborted) controller.close();
      }
    },
    cancel() {
      stop.abort();
    },
  });
}

export function beginsTurn(message: string): boolean {
  return (JSON.parse(message) as FollowedEvent).event === "turn";
}

/** An event of who follows a conversation. */
export function followedEvent(message: string | undefined): string {
  if (message === undefined) return "event: open\ndata: {}\n\n";
  // SAFETY: our own object sent it.
  const event = JSON.parse(message) as FollowedEvent;
  const data = JSON.stringify({ ...event.data, turn: event.turn });
  return `event: ${event.event}\ndata: ${data}\n\n`;
}

function sse(event: TurnEvent): string {
  const id = "id" in event ? `id: ${event.id}\n` : "";
  return `${id}event: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`;
}

/** Messages of a waiting room as they come, until it closes or the signal fires; none when there is no such room. */
export async function* roomMessages(
  stub: { fetch(request: Request): Promise<Response> },
  path: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const socket = await open(stub, path);
  if (socket !== "gone") yield* messages(socket, signal);
}

/** One message of a waiting room, or undefined when patience ran out or there is none. */
export async function firstMessage(
  stub: { fetch(request: Request): Promise<Response> },
  path: string,
  patienceMs: number,
  hangup: AbortSignal,
): Promise<string | undefined> {
  const socket = await open(stub, path);
  if (socket === "gone") return undefined;
  for await (const text of messages(socket, AbortSignal.any([hangup, AbortSignal.timeout(patienceMs)])))
    return text;
  return undefined;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
