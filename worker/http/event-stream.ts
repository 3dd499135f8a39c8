/** Server-sent events that last as long as their client. */
import { messagesOf, type ObjectStub, openSocket } from "./object-socket.ts";
import { type Recheck, whileAllowed } from "./recheck.ts";

/** Headers of server-sent events. */
export const SSE = { "content-type": "text/event-stream", "cache-control": "no-store" };
/** Proxies close a silent stream after 60 to 100 s. */
const KEEPALIVE_MS = 15_000;

/**
 * A stream that ends when `send` does, or when the client goes.
 * @param send writes events, each with its empty line; `gone` fires when the client goes
 */
export function eventStream(
  hangup: AbortSignal,
  send: (write: (events: string) => void, gone: AbortSignal) => Promise<void>,
): ReadableStream<Uint8Array> {
  const stop = new AbortController();
  const gone = AbortSignal.any([hangup, stop.signal]);
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      const write = (text: string) => {
        if (!gone.aborted) controller.enqueue(encoder.encode(text));
      };
      const keepalive = setInterval(() => write(": keep-alive\n\n"), KEEPALIVE_MS);
      try {
        await send(write, gone);
      } finally {
        clearInterval(keepalive);
        if (!gone.aborted) controller.close();
      }
    },
    cancel() {
      stop.abort();
    },
  });
}

/**
 * Messages of an object's socket as events, until the socket closes (a deploy, an eviction) or the client goes. The client
 * then connects again, and first gets how things stand.
 * @param eventsOf the events that a message makes; called with undefined first
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
      // Asked for before the first look, so that nothing falls between the two.
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
