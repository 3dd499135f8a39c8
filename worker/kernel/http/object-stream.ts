/**
 * Responses that last: an object tells over a socket what happens, and the Worker passes it on, while the client is there
 * and may still read it.
 */
import { HttpError } from "./errors.ts";

/** The stub of either object. */
export type ObjectStub = { fetch(request: Request): Promise<Response> };

/** @param stub a new one for each try: a stub that threw is broken @returns "gone" when the object has no such stream */
export async function openSocket(stub: ObjectStub, path: string): Promise<WebSocket | "gone"> {
  const response = await stub.fetch(
    new Request(`https://object${path}`, { headers: { upgrade: "websocket" } }),
  );
  if (response.status === 404 || response.status === 410) return "gone";
  if (!response.webSocket) throw new Error(`no socket: ${response.status}`);
  return response.webSocket;
}

/** Accepts a socket, and yields its messages until it closes or the signal fires. */
export async function* messagesOf(socket: WebSocket, signal: AbortSignal): AsyncGenerator<string> {
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
  // From here on messages come; until now the platform kept them.
  socket.accept();
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

/** The same from the stub of an object; nothing when the object has no such stream. */
export async function* socketMessages(
  stub: ObjectStub,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const socket = await openSocket(stub, path);
  if (socket !== "gone") yield* messagesOf(socket, signal);
}

/** @returns the first message; undefined when none comes within `patienceMs` */
export async function firstMessage(
  stub: ObjectStub,
  path: string,
  patienceMs: number,
  hangup: AbortSignal,
): Promise<string | undefined> {
  const socket = await openSocket(stub, path);
  if (socket === "gone") return undefined;
  for await (const text of messagesOf(socket, AbortSignal.any([hangup, AbortSignal.timeout(patienceMs)])))
    return text;
  return undefined;
}

/** The interval at which a response's caller is checked. It is an object, so that a test can set it. */
export const RECHECK = { everyMs: 30_000 };

/** Throws HttpError once the token has ended, or the caller may no longer see the conversation. */
export type Recheck = () => Promise<unknown>;

/** Checks repeatedly. @returns a signal that also fires when the caller may no longer read; `end` stops the checks */
export function whileAllowed(signal: AbortSignal, recheck: Recheck | undefined) {
  const stop = new AbortController();
  const ask = async () => {
    try {
      await recheck?.();
    } catch (error) {
      // Any other error means that the object is being replaced: the next check decides.
      if (error instanceof HttpError) stop.abort();
    }
  };
  const timer = recheck && setInterval(() => void ask(), RECHECK.everyMs);
  return { signal: AbortSignal.any([signal, stop.signal]), end: () => clearInterval(timer) };
}

/** Headers of server-sent events. */
export const SSE = { "content-type": "text/event-stream", "cache-control": "no-store" };
/** Proxies close a silent stream after 60 to 100 s. */
const KEEPALIVE_MS = 15_000;

/**
 * A stream that ends when `send` does, or when the client goes.
 * @param send writes events, each with its empty line; `gone` fires when the client goes
 * @param keepaliveMs a comment is sent so often; workerd notices that a client has left only when something is written (measured)
 * @param keepalive in place of the comment, for an answer of another form
 */
export function eventStream(
  hangup: AbortSignal,
  send: (write: (events: string) => void, gone: AbortSignal) => Promise<void>,
  keepaliveMs = KEEPALIVE_MS,
  keepalive = ": keep-alive\n\n",
): ReadableStream<Uint8Array> {
  const stop = new AbortController();
  const gone = AbortSignal.any([hangup, stop.signal]);
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      const write = (text: string) => {
        if (!gone.aborted) controller.enqueue(encoder.encode(text));
      };
      const timer = setInterval(() => write(keepalive), keepaliveMs);
      try {
        await send(write, gone);
      } finally {
        clearInterval(timer);
        if (!gone.aborted) controller.close();
      }
    },
    cancel() {
      stop.abort();
    },
  });
}

/**
 * Sends the messages of an object's socket as events until the socket closes (a deploy, an eviction) or the client goes. A
 * client that connects again first gets the present state.
 * @param eventsOf makes the events of a message; the first call gets undefined
 */
export function socketEventStream(
  stub: ObjectStub,
  path: string,
  eventsOf: (message: string | undefined) => Promise<string>,
  hangup: AbortSignal,
  recheck: Recheck,
): ReadableStream<Uint8Array> {
  return eventStream(hangup, async (write, gone) => {
    const { signal, end } = whileAllowed(gone, recheck);
    try {
      const socket = await openSocket(stub, path);
      if (socket === "gone") return;
      const queue = messagesOf(socket, signal);
      // Requested before the first state is read, so that no message is lost between the two.
      let next = queue.next();
      const send = (events: string) => {
        if (!signal.aborted) write(events);
      };
      send(await eventsOf(undefined));
      for (let message = await next; !message.done; message = await next) {
        next = queue.next();
        send(await eventsOf(message.value));
      }
    } catch {
      // The object is being replaced.
    } finally {
      end();
    }
  });
}
