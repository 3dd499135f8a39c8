/** The link to an MCP server with an address: a POST for each message, which the server answers with JSON or with events. */
import { ServerEvents } from "@edgecall/core/loop/server-events.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { messageOf } from "@edgecall/node/log.ts";
import {
  answerIn,
  type Link,
  MESSAGE_MAX_BYTES,
  Message,
  MODERN_VERSION,
  type Params,
  RpcError,
  Unreachable,
} from "./messages.ts";

const CLOSE_WITHIN_MS = 2_000;
/** The specification allows visible ASCII in a session's id. */
const SESSION = /^[\x21-\x7e]{1,1024}$/;

export function httpLink({ url, token }: { url: string; token: string | undefined }): Link {
  let lastId = 0;
  let session: string | undefined;
  let version: string | undefined;
  let isOver = false;
  let end: (why: string) => void = () => {};
  const ended = new Promise<string>((resolve) => {
    end = (why) => {
      isOver = true;
      resolve(why);
    };
  });

  const headers = (method: string, params: Params): Record<string, string> => ({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(session !== undefined && { "mcp-session-id": session }),
    ...(version !== undefined && { "mcp-protocol-version": version }),
    // Required since 2026-07-28, so that a proxy can tell requests apart.
    ...(version === MODERN_VERSION && {
      "mcp-method": method,
      ...(typeof params.name === "string" && { "mcp-name": params.name }),
    }),
  });

  const post = async (message: { method: string; params: Params; id?: number }, signal: AbortSignal) => {
    if (isOver) throw new Unreachable("the connection was closed", false);
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const init = { method: "POST", headers: headers(message.method, message.params), body, signal } as const;
    // A redirect would carry the token to another server.
    const response = await fetch(url, { ...init, redirect: "error" }).catch((error: unknown) => {
      if (signal.aborted) throw signal.reason;
      const cause = error instanceof Error ? error.cause : undefined;
      throw new Unreachable(`${url} cannot be reached: ${messageOf(cause ?? error)}`, true);
    });
    const given = response.headers.get("mcp-session-id");
    if (given !== null && SESSION.test(given)) session = given;
    return response;
  };

  return {
    ended,
    agreed(agreed) {
      version = agreed;
    },
    async request(method, params, { signal, onNotification }) {
      signal.throwIfAborted();
      lastId += 1;
      const id = lastId;
      try {
        const response = await post({ id, method, params }, signal);
        // The server has forgotten the session, and the next call begins a new one.
        if (response.status === 404 && session !== undefined) end("the session is over");
        for await (const text of messagesOf(response)) {
          const read = checkJson(Message, text);
          if (!read.ok) continue;
          if (read.value.id === id && read.value.method === undefined) return answerIn(read.value);
          if (read.value.method !== undefined) onNotification?.(read.value);
        }
        throw new Unreachable(`${url} answered ${response.status} without a message`, response.ok);
      } catch (error) {
        if (!signal.aborted)
          throw error instanceof Unreachable || error instanceof RpcError
            ? error
            : new Unreachable(messageOf(error), true);
        // Before 2026-07-28, closing the stream does not cancel a request.
        if (version !== MODERN_VERSION)
          void this.notify("notifications/cancelled", { requestId: id, reason: "cancelled" });
        throw signal.reason;
      }
    },
    async notify(method: string, params: Params = {}) {
      const sent = await post({ method, params }, AbortSignal.timeout(CLOSE_WITHIN_MS)).catch(
        () => undefined,
      );
      await sent?.body?.cancel();
    },
    async close() {
      if (session !== undefined && !isOver) {
        const init = {
          method: "DELETE",
          headers: headers("", {}),
          signal: AbortSignal.timeout(CLOSE_WITHIN_MS),
        } as const;
        const gone = await fetch(url, { ...init, redirect: "error" }).catch(() => undefined);
        await gone?.body?.cancel();
      }
      end("it was closed");
    },
  };
}

/** Yields the text of each message: the whole body, or the data of each event. All of them together are bounded. */
async function* messagesOf(response: Response): AsyncGenerator<string> {
  if (!response.headers.get("content-type")?.includes("text/event-stream")) {
    let body = "";
    for await (const text of textsOf(response)) body += text;
    if (body !== "") yield body;
    return;
  }
  const events = new ServerEvents();
  for await (const text of textsOf(response)) for (const { data } of events.add(text)) yield data;
}

async function* textsOf({ body }: Response): AsyncGenerator<string> {
  if (!body) return;
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MESSAGE_MAX_BYTES)
      throw new Unreachable(`an answer of more than ${MESSAGE_MAX_BYTES} bytes`, true);
    yield decoder.decode(chunk, { stream: true });
  }
}
