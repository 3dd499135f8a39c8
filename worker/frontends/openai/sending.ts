/** How an answer that takes its time is sent: as an event stream, or as JSON whose beginning is held open. */
import type { Context } from "hono";
import type { App } from "../../http/app.ts";
import { logError } from "../../log.ts";

export type Pace = {
  /**
   * Proxies close a silent response after 60 to 100 s. And that a client has left is noticed when something is
   * written (measured with workerd): a person who pressed Stop should not wait for that.
   */
  keepAliveMs: number;
  /** So long a JSON answer waits before it says anything. */
  patienceMs: number;
};

export const PACE: Pace = { keepAliveMs: 2_000, patienceMs: 5_000 };

/** A line of an event stream that says nothing. */
export const KEEP_ALIVE = ": keep-alive\n\n";

/**
 * A compression in front gathers what is sent until it is worth a block: white space and comments would never leave it,
 * and a client that has gone would not be noticed. Cloudflare's edge looks at `no-transform` alone, Miniflare (here) and
 * nginx at the encoding, other proxies at either.
 */
const AS_IT_IS = { "cache-control": "no-store, no-transform", "content-encoding": "identity" };

/** @param hungUp the client left before the end */
export function eventStream(
  c: Context<App>,
  texts: (signal: AbortSignal) => AsyncIterable<string>,
  hungUp: () => void,
  { keepAliveMs }: Pace = PACE,
): Response {
  const body = sendable(c, hungUp, async (write, signal) => {
    const keepAlive = setInterval(() => write(KEEP_ALIVE), keepAliveMs);
    try {
      for await (const text of texts(signal)) write(text);
    } finally {
      clearInterval(keepAlive);
    }
  });
  return c.body(body, 200, { "content-type": "text/event-stream", ...AS_IT_IS });
}

/**
 * Nothing is said while there is patience: a client whose connection breaks before the headers asks again, and finds
 * its turn (begin-turn.ts). Then comes white space, with which JSON may begin, so that a proxy sees a response that lives.
 * The status is said before the outcome then, which is why whatever a turn comes to is a 200 here.
 */
export async function patientJson(
  c: Context<App>,
  answer: (signal: AbortSignal, hurry: () => void) => Promise<unknown>,
  hungUp: () => void,
  { keepAliveMs, patienceMs }: Pace = PACE,
): Promise<Response> {
  const waiting = Promise.withResolvers<"impatient">();
  const patience = setTimeout(() => waiting.resolve("impatient"), patienceMs);
  const answered = Promise.withResolvers<void>();
  const body = sendable(c, hungUp, async (write, signal) => {
    let every: ReturnType<typeof setInterval> | undefined;
    const hurry = () => {
      waiting.resolve("impatient");
      write(" ");
    };
    void waiting.promise.then(() => {
      write(" ");
      every = setInterval(() => write(" "), keepAliveMs);
    });
    try {
      write(JSON.stringify(await answer(signal, hurry)));
    } finally {
      clearTimeout(patience);
      clearInterval(every);
      answered.resolve();
    }
  });
  await Promise.race([answered.promise, waiting.promise]);
  return c.body(body, 200, { "content-type": "application/json", ...AS_IT_IS });
}

function sendable(
  c: Context<App>,
  hungUp: () => void,
  send: (write: (text: string) => void, signal: AbortSignal) => Promise<void>,
): ReadableStream<Uint8Array> {
  const stop = new AbortController();
  const signal = AbortSignal.any([c.req.raw.signal, stop.signal]);
  let ended = false;
  const leave = () => {
    if (!ended) hungUp();
    ended = true;
  };
  signal.addEventListener("abort", leave);
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      const write = (text: string) => {
        if (!signal.aborted) controller.enqueue(encoder.encode(text));
      };
      try {
        await send(write, signal);
      } catch (error) {
        logError("openai.stream_failed", error, { path: c.req.path });
      }
      ended = true;
      if (!signal.aborted) controller.close();
    },
    cancel() {
      stop.abort();
    },
  });
}
