/** Answers one request: as JSON, or as a stream of events, which can carry progress and comments that keep the connection open. */
import { eventStream } from "../../kernel/http/object-stream.ts";
import { logError } from "../../kernel/log.ts";
import type { AnswerForm } from "./accept.ts";
import { INTERNAL_ERROR, McpError, type McpRequest } from "./protocol.ts";

export type Exchange = {
  /** The client has left. */
  signal: AbortSignal;
  /** Sends a note before the result; later ones are dropped. Absent: the client takes JSON alone, which has no room for notes. */
  notify?: (method: string, params: object) => void;
};

const JSON_WITHIN_MS = 1_000;
/** A call that is held is cancelled so long after its client left. */
const KEEPALIVE_MS = 2_000;

/** `no-transform` and the last header prevent compressors and nginx from collecting events before they send them. */
const EVENTS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** White space before a JSON text is none of it. `no-transform`: a compressor would keep it back. */
const SLOW_JSON = { "content-type": "application/json", "cache-control": "no-cache, no-transform" };

/**
 * Clients of 2025 get a stream at once, since a proxy would close a connection that is silent during a long call. Clients of
 * 2026-07-28 get JSON, unless there is something to tell before, or the result takes longer than a second: only what is
 * written to a client shows that it has left. A client that takes one form alone gets that one; JSON that takes longer than a second
 * begins with white space.
 * @param hangup fires when the client leaves
 * @param run makes the result, or throws McpError
 */
export async function respond(
  request: McpRequest,
  form: AnswerForm,
  hangup: AbortSignal,
  run: (exchange: Exchange) => Promise<object>,
): Promise<Response> {
  const { promise: response, resolve } = Promise.withResolvers<Response>();
  const ended = Promise.withResolvers<void>();
  const stop = new AbortController();
  let write: ((events: string) => void) | undefined;
  let isOver = false;
  const inEvents = form !== "json";
  const open = () => {
    if (write) return;
    const send = async (writeText: (text: string) => void, gone: AbortSignal) => {
      write = writeText;
      gone.addEventListener("abort", () => stop.abort());
      await ended.promise;
    };
    const body = eventStream(hangup, send, KEEPALIVE_MS, inEvents ? undefined : " ");
    resolve(new Response(body, { headers: inEvents ? EVENTS : SLOW_JSON }));
  };
  const send = (message: object) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    write?.(inEvents ? `event: message\ndata: ${text}\n\n` : text);
  };
  if (form === "events" || (form === "either" && !request.modern)) open();
  const slow = setTimeout(open, JSON_WITHIN_MS);
  const notify = (method: string, params: object) => {
    if (isOver) return;
    open();
    send({ method, params });
  };
  const exchange: Exchange = {
    signal: AbortSignal.any([hangup, stop.signal]),
    ...(inEvents && { notify }),
  };
  const finish = (reply: object) => {
    isOver = true;
    clearTimeout(slow);
    const message = { ...reply, id: request.id };
    if (write) send(message);
    else resolve(Response.json({ jsonrpc: "2.0", ...message }));
    ended.resolve();
  };
  run(exchange).then(
    (result) => finish({ result }),
    (error: unknown) => finish({ error: errorOf(error) }),
  );
  return await response;
}

/** An unexpected error's text stays in the log. */
export function errorOf(error: unknown): { code: number; message: string; data?: object } {
  if (error instanceof McpError)
    return { code: error.code, message: error.message, ...(error.data && { data: error.data }) };
  logError("mcp.failed", error);
  return { code: INTERNAL_ERROR, message: "Internal error" };
}
