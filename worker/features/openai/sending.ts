/** Sends an answer that takes long: as an event stream, or as JSON after white space that holds the connection open. */
import type { Context } from "hono";
import type { App } from "../../kernel/http/app.ts";
import { logError } from "../../kernel/log.ts";

export type Pace = {
  /**
   * Proxies close a silent response after 60 to 100 s. And workerd notices that a client has left only when something is written
   * (measured), so that a person's Stop would take effect late.
   */
  keepAliveMs: number;
  /** A JSON answer writes nothing for so long. */
  patienceMs: number;
};

export const PACE: Pace = { keepAliveMs: 2_000, patienceMs: 5_000 };

/** The pace for a client that has waited so long already. */
export function paceAfter(waitedMs = 0): Pace {
  return { ...PACE, patienceMs: Math.max(0, PACE.patienceMs - waitedMs) };
}

/** A comment line, which clients of an event stream ignore. */
export const KEEP_ALIVE = ": keep-alive\n\n";

/**
 * These headers prevent compression on the way. A compressor collects output until it fills a block, so white space and comments
 * would not be sent, and nobody would notice that the client has left. Cloudflare's edge respects only `no-transform`, Miniflare and
 * nginx only the encoding, other proxies one of the two.
 */
const AS_IT_IS = { "cache-control": "no-store, no-transform", "content-encoding": "identity" };

/** @param hungUp is called when the client leaves before the end */
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
 * At first nothing is written: a client whose connection breaks before the headers repeats its request and finds its turn
 * (begin-turn.ts). Then white space is written, with which JSON may begin, so that proxies keep the connection. The status is
 * therefore sent before the outcome is known, and is always 200.
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
