/**
 * The time to the first token of a stream: from the model directly, and through each of the gateway's streams, in
 * alternation.
 */
import { Agent, request } from "node:http";
import { TOKENS } from "../../test/tokens.ts";
import { median, percentile } from "../stats.ts";
import { FIRST_TOKEN, question } from "./model.ts";

export const STREAMS = ["model", "messages", "completions", "responses"] as const;
export type Stream = (typeof STREAMS)[number];

export type FirstTokens = {
  /** The model's intended delay in milliseconds. */
  modelMs: number;
  samples: number;
  rows: Record<
    Stream,
    { p50: number; p99: number /** Over the model's own, median of the pairs. */; ratio: number }
  >;
};

/** Then a new conversation starts, because a long history would measure JSON. */
const TURNS_OF_A_CONVERSATION = 5;

/** @param gateway its address @param model the model's address, with `/v1` */
export async function measureFirstTokens(
  gateway: string,
  model: string,
  modelMs: number,
  samples: number,
): Promise<FirstTokens> {
  const agent = new Agent({ keepAlive: true, noDelay: true });
  const took: Record<Stream, number[]> = { model: [], messages: [], completions: [], responses: [] };
  const once = async (stream: Stream, n: number) => {
    const { url, body, headers } = asked(stream, { gateway, model, modelMs, n });
    return await firstToken(agent, url, JSON.stringify(body), headers);
  };
  // Warms up, because V8 compiles code on demand.
  for (let n = 0; n < TURNS_OF_A_CONVERSATION; n += 1)
    for (const stream of STREAMS) await once(stream, -1 - n);
  // One after another, so that drift of a shared machine affects all of them alike.
  for (let n = 0; n < samples; n += 1) for (const stream of STREAMS) took[stream].push(await once(stream, n));
  agent.destroy();
  const row = (stream: Stream) => ({
    p50: percentile(took[stream], 0.5),
    p99: percentile(took[stream], 0.99),
    ratio: median(took[stream].map((ms, n) => ms / (took.model[n] ?? Number.NaN))),
  });
  return {
    modelMs,
    samples,
    rows: {
      model: row("model"),
      messages: row("messages"),
      completions: row("completions"),
      responses: row("responses"),
    },
  };
}

type Place = { gateway: string; model: string; modelMs: number; n: number };

function asked(stream: Stream, { gateway, model, modelMs, n }: Place) {
  const text = question(modelMs, `${stream}-${n}`);
  const conversation = `${stream}-${modelMs}-${Math.floor(n / TURNS_OF_A_CONVERSATION)}`;
  const headers = {
    authorization: `Bearer ${TOKENS.owner}`,
    "content-type": "application/json",
    ...(stream !== "messages" && { "x-edge-conversation": conversation }),
    ...(stream === "messages" && { accept: "text/event-stream" }),
  };
  const messages = [{ role: "user", content: text }];
  switch (stream) {
    case "model":
      return { url: `${model}/chat/completions`, body: { model: "bench", messages, stream: true }, headers };
    case "messages":
      return { url: `${gateway}/v1/conversations/${conversation}/messages`, body: { text }, headers };
    case "completions":
      return {
        url: `${gateway}/v1/chat/completions`,
        body: { model: "edgecall", messages, stream: true },
        headers,
      };
    case "responses":
      return {
        url: `${gateway}/v1/responses`,
        body: { model: "edgecall", input: text, stream: true },
        headers,
      };
  }
}

/** @returns milliseconds from the first sent byte to the first token; the stream is read to its end */
function firstToken(
  agent: Agent,
  url: string,
  body: string,
  headers: Record<string, string>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const sent = request(url, { agent, method: "POST", headers }, (response) => {
      let text = "";
      let ms: number | undefined;
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
        if (ms === undefined && text.includes(FIRST_TOKEN)) ms = performance.now() - began;
      });
      response.once("end", () => {
        if (ms === undefined || response.statusCode !== 200)
          reject(new Error(`${url}: ${response.statusCode} ${text.slice(0, 500)}`));
        else resolve(ms);
      });
      response.once("error", reject);
    });
    sent.once("error", reject);
    sent.end(body);
  });
}
