/** Named models with fall-back, budgets, and a history that fits: only the Worker, with real endpoints. */

import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker } from "../../local/bundles.ts";
import { type Gateway, startWorker } from "../../local/gateway.ts";
import { type ScriptedModel, script, startScriptedModel } from "../scripted-model.ts";
import { TOKENS, testVars } from "../tokens.ts";

type Answer = {
  status: string;
  answer: string;
  model: string;
  error?: { code: string; message: string };
  notices?: string[];
};

let bundle: string;
const ends: Array<() => Promise<void>> = [];
beforeAll(async () => {
  bundle = await bundleWorker();
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

async function models(): Promise<{ main: ScriptedModel; spare: ScriptedModel }> {
  const [main, spare] = await Promise.all([startScriptedModel(), startScriptedModel()]);
  ends.push(main.close, spare.close);
  return { main, spare };
}

/** Starts an endpoint that answers everything with the same failure. */
async function failing(status: number, words = "internal error"): Promise<{ url: string; requests: number }> {
  const seen = { url: "", requests: 0 };
  const server = createServer((request, response) => {
    // The gateway also asks a local server for its window.
    if (request.method === "POST") seen.requests += 1;
    request.resume();
    response
      .writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: words } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  seen.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  ends.push(async () => void server.close());
  return seen;
}

async function gateway(vars: Record<string, string>): Promise<Gateway> {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-models-"));
  const started = await startWorker({
    port: 0,
    dir,
    bundle,
    vars: { ...testVars, ...vars },
    onLog: () => {},
  });
  ends.push(async () => {
    await started.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return started;
}

async function say({ url }: Gateway, conversation: string, text: string, more: Record<string, unknown> = {}) {
  const response = await fetch(`${url}/v1/conversations/${conversation}/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKENS.owner}` },
    body: JSON.stringify({ text, ...more }),
  });
  return { http: response.status, ...((await response.json()) as Answer) };
}

const spareAt = (url: string) => JSON.stringify([{ name: "spare", base_url: url, model: "spare-1" }]);

describe("a model that fails", () => {
  test("three times cools down, and the next model answers, also the next question", async () => {
    const [main, { spare }] = await Promise.all([failing(500), models()]);
    const worker = await gateway({ LLM_BASE_URL: main.url, LLM_MODELS: spareAt(spare.url) });
    expect((await say(worker, "cool", script({ text: "spare" }))).answer).toBe("spare");
    expect(main.requests).toBe(3);
    expect((await say(worker, "another", script({ text: "spare again" }))).answer).toBe("spare again");
    expect(main.requests).toBe(3);
  });

  test("in words that do not pass is tried twice, and the next model answers", async () => {
    const [main, { spare }] = await Promise.all([failing(500, "out of memory"), models()]);
    const worker = await gateway({ LLM_BASE_URL: main.url, LLM_MODELS: spareAt(spare.url) });
    expect((await say(worker, "doubtful", script({ text: "spare" }))).answer).toBe("spare");
    expect([main.requests, spare.requests.length]).toEqual([2, 1]);
  });

  test("permanently (a wrong key) is replaced at once", async () => {
    const [main, { spare }] = await Promise.all([failing(401), models()]);
    const worker = await gateway({ LLM_BASE_URL: main.url, LLM_MODELS: spareAt(spare.url) });
    expect((await say(worker, "key", script({ text: "spare" }))).answer).toBe("spare");
    expect([main.requests, spare.requests.length]).toEqual([1, 1]);
  });

  test("can be chosen by name, and an unknown name lists the known ones", async () => {
    const { main, spare } = await models();
    const worker = await gateway({ LLM_BASE_URL: main.url, LLM_MODELS: spareAt(spare.url) });
    expect((await say(worker, "named", script({ text: "x" }), { model: "spare" })).answer).toBe("x");
    expect(spare.requests[0]?.model).toBe("spare-1");
    const wrong = await say(worker, "named", "hello", { model: "gpt-9" });
    expect(wrong.http).toBe(400);
    expect(wrong.error?.message).toBe("model: there is no 'gpt-9'; there are: scripted, spare");
  });

  test("G5 by name is not replaced without permission, and the reply says who answered", async () => {
    const [{ main }, down] = await Promise.all([models(), failing(401)]);
    const worker = await gateway({ LLM_BASE_URL: main.url, LLM_MODELS: spareAt(down.url) });
    const complete = async (headers: Record<string, string>) => {
      const response = await fetch(`${worker.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKENS.owner}`, ...headers },
        body: JSON.stringify({
          model: "spare",
          messages: [{ role: "user", content: script({ text: "from main" }) }],
        }),
      });
      return (await response.json()) as {
        model: string;
        choices: Array<{ message: { content: string } }>;
        edge: { status: string };
      };
    };
    const refused = await complete({});
    expect(refused).toMatchObject({ model: "spare", edge: { status: "failed" } });
    expect(main.requests).toHaveLength(0);
    const replaced = await complete({ "x-edge-fallback": "on" });
    expect(replaced).toMatchObject({
      model: "scripted",
      choices: [{ message: { content: "from main" } }],
      edge: { status: "done" },
    });
    const named = { model: "spare" };
    expect(await say(worker, "named", script({ text: "x" }), named)).toMatchObject({ status: "failed" });
    const may = { ...named, fallback: true };
    expect(await say(worker, "may", script({ text: "x" }), may)).toMatchObject({
      status: "done",
      answer: "x",
    });
  });

  test("wrong settings are reported to the person who asks, with the field", async () => {
    const worker = await gateway({ LLM_BASE_URL: "http://127.0.0.1:9/v1", LLM_MODELS: '[{"name":"a b"}]' });
    const answer = await say(worker, "wrong", "hello");
    expect(answer.error).toMatchObject({
      code: "settings",
      message: expect.stringContaining("LLM_MODELS: 0.name"),
    });
  });
});

/** Each reply of the scripted model counts 15 tokens. */
describe("a budget", () => {
  const unknown = { calls: [{ name: "nothing", arguments: {} }] };

  test("of model calls ends a question with a text", async () => {
    const { main } = await models();
    const worker = await gateway({
      LLM_BASE_URL: main.url,
      BUDGET_TURN_MODEL_CALLS: "2",
      TOOL_REPEAT_LIMIT: "9",
      TOOL_ERROR_LIMIT: "9",
    });
    const turn = await say(worker, "turn", script(unknown, unknown, { text: "never" }));
    expect(turn).toMatchObject({ http: 200, status: "failed", error: { code: "budget" } });
    expect(turn.answer).toContain("The budget for one question is used up: 2 of 2 model calls.");
    expect((await say(worker, "turn", script({ text: "a fresh one" }))).answer).toBe("a fresh one");
  });

  test("of tokens for a conversation: a notice at 80 %, a refusal at 100 %", async () => {
    const { main } = await models();
    const worker = await gateway({ LLM_BASE_URL: main.url, BUDGET_CONVERSATION_TOKENS: "37" });
    const one = () => say(worker, "long", script({ text: "fine" }));
    expect((await one()).notices).toBeUndefined();
    expect((await one()).notices).toBeUndefined();
    expect((await one()).notices).toEqual([
      "81 % of the budget of this conversation is used: 30 of 37 tokens.",
    ]);
    expect((await one()).answer).toContain(
      "used up: 45 of 37 tokens. A new conversation starts with a fresh one.",
    );
    expect((await say(worker, "another", script({ text: "fine" }))).answer).toBe("fine");
  });

  test("of a day counts all conversations of a home, streamed or not, and no other home", async () => {
    const { main } = await models();
    const worker = await gateway({ LLM_BASE_URL: main.url, BUDGET_DAY_MODEL_CALLS: "2" });
    for (const conversation of ["a", "b"])
      expect((await say(worker, conversation, script({ text: "fine" }))).answer).toBe("fine");
    expect((await say(worker, "c", script({ text: "never" }))).answer).toMatch(
      /of this home for today is used up: 2 of 2 model calls\. .* free again at \d{4}-\d\d-\d\d 00:00 UTC/,
    );
    const other = await fetch(`${worker.url}/ask`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKENS.otherHome}` },
      body: script({ text: "ours" }),
    });
    expect(await other.text()).toBe("ours\n");
  });
});

test("a history that is too long is cut, and the model sums up what no longer fits", async () => {
  const { main } = await models();
  const worker = await gateway({ LLM_BASE_URL: main.url, HISTORY_MAX_TOKENS: "900" });
  for (let turn = 0; turn < 8; turn += 1) {
    const { answer } = await say(
      worker,
      "history",
      script({ text: `answer ${turn} ${"word ".repeat(120)}` }),
    );
    expect(answer).toContain(`answer ${turn}`);
  }
  const summaries = main.requests.filter(({ messages }) =>
    JSON.stringify(messages).includes("Sum up the conversation below"),
  );
  expect(summaries.length).toBeGreaterThan(0);
  expect(summaries.length).toBeLessThan(8);
  const last =
    main.requests
      .at(-1)
      ?.messages.map(({ content }) => content)
      .join("\n") ?? "";
  expect(last).toContain("(no script)");
  expect(last).toContain("answer 0");
  expect(last.length / 3).toBeLessThan(1_600);
  expect(main.breaches).toEqual([]);
}, 30_000);
