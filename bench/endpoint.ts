/**
 * The model of the bench: an OpenAI-compatible endpoint without any delay. It asks for one batch of calls after another, then
 * answers, and measures the time between. workerd cannot measure it: its clock stands still while code runs, as a
 * protection against Spectre.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The times of one turn, as the endpoint sees them. */
export type TurnTimes = {
  /** Milliseconds from the last byte of each reply with calls to the first byte of the next request. */
  calls: number[];
  /** Milliseconds that the endpoint itself took, for all requests. */
  own: number;
  /** The bodies of all requests. */
  requests: string[];
};

export type Endpoint = {
  /** The value for LLM_BASE_URL. */
  url: string;
  /** Prepares a turn that calls these batches. @returns the question to ask, and `times`, complete when the turn is over */
  script(batches: readonly ModelCall[][]): Scripted;
  /** The body of the last request. */
  lastRequest(): string;
  close(): Promise<void>;
};

/** The text may also be a question to an agent, or the task of a session: then that loop's model calls the batches. */
type Scripted = { text: string; times: TurnTimes };

/** A call that the model asks for. */
export type ModelCall = { name: string; arguments: Record<string, unknown> };

type Script = TurnTimes & { left: ModelCall[][]; repliedAt: number | undefined };

const MARK = /bench-turn-(\d+)/g;

export async function startEndpoint(): Promise<Endpoint> {
  const scripts = new Map<string, Script>();
  let lastTurn = 0;
  let lastCall = 0;
  let lastRequest = "";

  const server = createServer((request, response) => {
    // Its headers have arrived, and the first byte came within the same read.
    const askedAt = performance.now();
    request.socket.setNoDelay(true);
    read(request).then(
      (body) => answer(body, askedAt, response),
      () => response.destroy(),
    );
  });
  server.keepAliveTimeout = 60_000;

  function answer(body: string, askedAt: number, response: ServerResponse): void {
    lastRequest = body;
    const marks = [...body.matchAll(MARK)].map(([, mark = ""]) => mark);
    if (marks.length === 0) {
      response.writeHead(400).end('{"error":{"message":"no turn of the bench"}}');
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    // Turns before this one are over. The marks of its own calls' loops come after its own.
    const turn = marks.find((mark) => scripts.has(mark)) ?? "";
    const script = scripts.get(turn);
    // A turn that the gateway began, with the end of a session.
    if (!script) {
      response.end(TEXT_REPLY);
      return;
    }
    script.requests.push(body);
    if (script.repliedAt !== undefined) script.calls.push(askedAt - script.repliedAt);
    const batch = script.left.shift();
    if (batch) {
      response.end(
        callsReply(
          batch.map((call) => {
            lastCall += 1;
            return { id: `call_${lastCall}`, ...call };
          }),
        ),
      );
    } else {
      scripts.delete(turn);
      response.end(TEXT_REPLY);
    }
    // `end` gives a reply of this size to the kernel before it returns.
    script.repliedAt = performance.now();
    script.own += script.repliedAt - askedAt;
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    script(batches) {
      lastTurn += 1;
      const script: Script = { left: [...batches], repliedAt: undefined, calls: [], own: 0, requests: [] };
      scripts.set(String(lastTurn), script);
      return { text: `bench-turn-${lastTurn}`, times: script };
    },
    lastRequest: () => lastRequest,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function read(request: IncomingMessage): Promise<string> {
  request.setEncoding("utf8");
  let body = "";
  for await (const part of request) body += part;
  return body;
}

function callsReply(calls: ReadonlyArray<ModelCall & { id: string }>): string {
  const tool_calls = calls.map(({ id, name, arguments: args }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  return stream({ delta: { role: "assistant", tool_calls } }, "tool_calls");
}

const TEXT_REPLY = stream({ delta: { role: "assistant", content: "That is what the device says." } }, "stop");

function stream(choice: Record<string, unknown>, finish: string): string {
  const chunks = [
    { choices: [{ index: 0, ...choice }] },
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
  ];
  const events = chunks.map((chunk) => {
    const whole = { id: "bench", object: "chat.completion.chunk", model: "bench", ...chunk };
    return `data: ${JSON.stringify(whole)}\n\n`;
  });
  return `${events.join("")}data: [DONE]\n\n`;
}
