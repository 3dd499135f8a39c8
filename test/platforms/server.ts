/** The common part of the fake chat platforms: a server that records its calls, and refuses them on request. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Both times are of `performance.now()`, and are taken so that a busy machine never makes a gap shorter than it was: `at`
 * when the call has arrived, so after it was sent, and `answeredAt` before its answer goes out.
 */
export type Call = {
  at: number;
  answeredAt: number;
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
  /** The status of the answer. */
  status: number;
  reply?: unknown;
};

type ArrivedCall = Omit<Call, "status" | "answeredAt">;

export type Answer = { status: number; body?: unknown; headers?: Record<string, string>; bytes?: Buffer };

export type PlatformServer = {
  url: string;
  calls: Call[];
  /** Refuses the next calls that `when` matches with 429 for this many seconds, and then accepts any. */
  limit(seconds: number, answer: (left: number) => Answer, when?: (path: string) => boolean): void;
  /** Answers each call whose body has these words so much later. */
  slow(words: string, ms: number): void;
  /** Calls that arrived during the limit, without the one that was told of it. */
  tooEarly: ArrivedCall[];
  close(): Promise<void>;
};

/** @param handle answers a call; an error that it throws is a fault of the test @param host where it listens */
export async function startPlatform(
  handle: (call: ArrivedCall) => Answer | Promise<Answer>,
  host = "127.0.0.1",
): Promise<PlatformServer> {
  const calls: Call[] = [];
  const tooEarly: ArrivedCall[] = [];
  const slow = new Map<string, number>();
  let limit:
    | {
        until: number;
        reported: boolean;
        seconds: number;
        answer: (left: number) => Answer;
        when: (path: string) => boolean;
      }
    | undefined;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const call = {
      at: performance.now(),
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(parts),
    };
    let reply: Answer;
    if (limit?.when(call.path) && (!limit.reported || call.at < limit.until)) {
      if (limit.reported) tooEarly.push(call);
      else limit.until = call.at + limit.seconds * 1_000;
      limit.reported = true;
      reply = limit.answer(limit.seconds);
    } else reply = await handle(call);
    for (const [words, ms] of slow) if (call.body.includes(words)) await sleep(ms);
    calls.push({ ...call, status: reply.status, reply: reply.body, answeredAt: performance.now() });
    const bytes = reply.bytes ?? Buffer.from(reply.body === undefined ? "" : JSON.stringify(reply.body));
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(bytes);
  }

  const server = createServer((request, response) => {
    request.socket.setNoDelay(true);
    void answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    calls,
    tooEarly,
    limit(seconds, answer, when = () => true) {
      limit = { until: 0, reported: false, seconds, answer, when };
    },
    slow: (words, ms) => void slow.set(words, ms),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Starts a fake platform with its own server. */
export async function startFake<T extends { answer(call: ArrivedCall): Answer | Promise<Answer> }>(
  make: (server: PlatformServer) => T,
  host?: string,
): Promise<T> {
  let fake: T | undefined;
  const server = await startPlatform(async (call) => (await fake?.answer(call)) ?? { status: 500 }, host);
  fake = make(server);
  return fake;
}

/** Returns the messages of a chat, which begins empty. */
export function messagesIn(chats: Map<string, ChatMessage[]>, chat: string): ChatMessage[] {
  const messages = chats.get(chat) ?? [];
  chats.set(chat, messages);
  return messages;
}

export function jsonOf(body: Buffer): Record<string, unknown> {
  return JSON.parse(body.toString("utf8")) as Record<string, unknown>;
}

/** Returns the fields and files of a multipart body. */
export async function formOf(call: Pick<Call, "headers" | "body">): Promise<FormData> {
  const headers = { "content-type": call.headers["content-type"] ?? "" };
  return await new Response(new Uint8Array(call.body), { headers }).formData();
}

/**
 * A rate limit as a platform counts it: `most` calls in any window of `withinMs`.
 * @returns a function that counts a call by its key and returns 0, or the seconds to wait
 */
export function pace(most: number, withinMs: number): (key: string) => number {
  const taken = new Map<string, number[]>();
  return (key) => {
    const now = performance.now();
    const recent = (taken.get(key) ?? []).filter((at) => now - at < withinMs);
    const [first = now] = recent;
    taken.set(key, recent);
    if (recent.length >= most) return Math.ceil((first + withinMs - now) / 1_000);
    recent.push(now);
    return 0;
  };
}

/** A message as a person sees it now. */
export type ChatMessage = {
  id: string;
  text: string;
  buttons: Array<{ label: string; data: string }>;
  thread?: string;
  file?: { name: string; bytes: number; type: string };
  /** True when nothing in the text is markup to the platform: a person sees each character of it. */
  literal?: boolean;
  /** True when the platform fetched the links of this text for a preview. */
  previewed?: boolean;
};

/**
 * Returns true when a platform would fetch the links of a text. @param suppressed true when the sender asked for no
 * preview
 */
export function fetchesLinks(text: string, suppressed: boolean): boolean {
  return !suppressed && /https?:\/\//.test(text);
}

/** A picture of one pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
