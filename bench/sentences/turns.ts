/** Plain sentences in the demo home, from the request to the answer: its devices carry a command out within 20 ms. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startDemoHome } from "../../local/demo/demo.ts";
import { furnish } from "../../local/demo/furnish.ts";
import { TOKENS, testVars } from "../../test/tokens.ts";
import { poster } from "../http.ts";
import type { Processes } from "../processes.ts";
import { startBenchBridge, startBenchWorker } from "../started.ts";
import { percentile } from "../stats.ts";
import { conversations } from "../turns.ts";

type Times = { p50: number; p95: number; samples: number };
/** `act`: until the light's own state has confirmed it. */
export type SentenceTurns = { act: Times; question: Times; modelRequests: number; tokens: number };

const KINDS = {
  act: [
    { text: "turn on the reading lamp", answer: /^Reading lamp: (?:already )?on/ },
    { text: "turn off the reading lamp", answer: /^Reading lamp: (?:already )?off/ },
  ],
  question: [
    { text: "is the reading lamp on?", answer: /Reading lamp/ },
    { text: "which lights are on?", answer: /light/i },
  ],
} as const;
type Kind = keyof typeof KINDS;

type Answered = { status: string; answer: string; usage: { input_tokens: number; output_tokens: number } };

/** @param turns of each kind, after as many as warm up */
export async function measureSentenceTurns(
  dir: string,
  processes: Processes,
  mqttUrl: string,
  { turns, warmUp }: { turns: number; warmUp: number },
): Promise<SentenceTurns> {
  const model = await startUnusedModel();
  const vars = { ...testVars, LLM_BASE_URL: model.url, LLM_MODEL: "bench" };
  const { worker } = await startBenchWorker(dir, "sentences", { vars });
  const { post, close } = poster(worker.url, 1);
  const env = { MQTT_DEVICES: "allow", BRIDGE_STATE: join(dir, "sentences-bridge") };
  await startBenchBridge(dir, processes, { gatewayUrl: worker.url, mqttUrl, name: "sentences-bridge", env });
  const house = await startDemoHome({ url: mqttUrl, seed: 4 });
  try {
    await furnish({ url: worker.url, token: TOKENS.owner });
    const conversationOf = conversations();
    let tokens = 0;
    const say = async ({ text, answer }: (typeof KINDS)[Kind][number]): Promise<number> => {
      const path = `/v1/conversations/${conversationOf(0)}/messages`;
      const began = performance.now();
      const { body } = await post(path, JSON.stringify({ text }), {
        authorization: `Bearer ${TOKENS.owner}`,
        "content-type": "application/json",
      });
      const took = performance.now() - began;
      const turn = JSON.parse(body) as Answered;
      if (turn.status !== "done" || !answer.test(turn.answer))
        throw new Error(`“${text}” was answered ${body}`);
      tokens += turn.usage.input_tokens + turn.usage.output_tokens;
      return took;
    };
    const times: Record<Kind, number[]> = { act: [], question: [] };
    for (let round = 0; round < warmUp + turns; round += 1)
      for (const kind of ["act", "question"] as const)
        for (const sentence of KINDS[kind]) {
          const took = await say(sentence);
          if (round >= warmUp) times[kind].push(took);
        }
    return {
      act: timesOf(times.act),
      question: timesOf(times.question),
      modelRequests: model.requests(),
      tokens,
    };
  } finally {
    close();
    await house.stop();
    await worker.stop();
    model.close();
  }
}

function timesOf(samples: readonly number[]): Times {
  return { p50: percentile(samples, 0.5), p95: percentile(samples, 0.95), samples: samples.length };
}

/** It counts who asks it, and answers nothing. */
async function startUnusedModel() {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, requests: () => requests, close: () => server.close() };
}
