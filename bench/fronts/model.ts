/** A model whose first token takes the time that the question requests. More text follows. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** Occurs only in the first token. */
export const FIRST_TOKEN = "Twelve";
/** Long enough to show if a client gets the first token only with the rest. */
const REST_AFTER_MS = 20;
const MARK = /place-([\w-]+): first-token-after-(\d+)-ms/g;

/** @param ms until the first token; 0 = at once @param place is repeated in the answer */
export function question(ms: number, place: string): string {
  return `How warm is it? (place-${place}: first-token-after-${ms}-ms)`;
}

export function endOfAnswer(place: string): string {
  return `degrees at ${place}.`;
}

export async function startModel(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.socket.setNoDelay(true);
    answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  request.setEncoding("utf8");
  for await (const part of request) body += part;
  // The last one is this turn's; those of earlier turns come before it.
  const [, place = "", delay = "0"] = [...body.matchAll(MARK)].at(-1) ?? [];
  const ms = Number(delay);
  if (ms > 0) await pause(ms);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunk({ index: 0, delta: { role: "assistant", content: `${FIRST_TOKEN} ` } }));
  await pause(REST_AFTER_MS);
  const rest = chunk({ index: 0, delta: { content: endOfAnswer(place) } });
  const end = chunk({ index: 0, delta: {}, finish_reason: "stop" });
  response.end(`${rest}${end}data: [DONE]\n\n`);
}

function chunk(choice: Record<string, unknown>): string {
  const whole = { id: "bench", object: "chat.completion.chunk", model: "bench", choices: [choice] };
  return `data: ${JSON.stringify(whole)}\n\n`;
}
