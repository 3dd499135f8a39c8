/** Conversations that fit a model's window: the Worker with endpoints that behave as local servers do, and hosted ones that refuse. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tokensBeside } from "@edgecall/core/loop/tokens.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker } from "../../local/bundles.ts";
import { type Gateway, startWorker } from "../../local/gateway.ts";
import {
  type ModelRequest,
  type ScriptedModel,
  type Step,
  script,
  startScriptedModel,
} from "../scripted-model.ts";
import { TOKENS, testVars } from "../tokens.ts";

let bundle: string;
const ends: Array<() => Promise<void>> = [];
beforeAll(async () => {
  bundle = await bundleWorker();
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

async function start(vars: Record<string, string> = {}) {
  const model = await startScriptedModel();
  ends.push(model.close);
  const dir = mkdtempSync(join(tmpdir(), "edgecall-window-"));
  const lines: string[] = [];
  const started = await startWorker({
    port: 0,
    dir,
    bundle,
    vars: { ...testVars, LLM_BASE_URL: model.url, ...vars },
    onLog: (line) => lines.push(line),
  });
  ends.push(async () => {
    await started.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return { model, gateway: started, lines };
}

async function say({ url }: Gateway, text: string, conversation = "one") {
  const response = await fetch(`${url}/v1/conversations/${conversation}/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKENS.owner}` },
    body: JSON.stringify({ text }),
  });
  return (await response.json()) as { status: string; answer: string };
}

/** Our estimate of a request, of what stands in it: a model does not read the signs of JSON around a text. */
const sizeOf = ({ messages, tools }: ModelRequest) =>
  tokensBeside(
    messages.map(({ role, content, ...more }) =>
      typeof content === "string" && Object.keys(more).length === 0
        ? content
        : JSON.stringify({ content, more }),
    ),
    tools,
  );
const LONG = "The lamp in the hall is on and the door is closed. ".repeat(12);
const answering = (nth: number): Step => ({ text: `answer ${nth}. ${LONG}` });

async function talk(gateway: Gateway, model: ScriptedModel, turns: number) {
  for (let nth = 0; nth < turns; nth += 1) {
    const { status, answer } = await say(gateway, script(answering(nth)));
    expect([status, answer.slice(0, 12)]).toEqual(["done", `answer ${nth}. ${LONG}`.slice(0, 12)]);
  }
  return model.requests.map(sizeOf);
}

const loaded = (context_length: number) => ({
  models: [{ name: "scripted", model: "scripted", context_length }],
});

describe("L16: a local server's window bounds what is sent", () => {
  test.each<[string, string, unknown, number]>([
    ["Ollama's of 4,096", "/api/ps", loaded(4_096), 4_096],
    ["Ollama's of 8,192", "/api/ps", loaded(8_192), 8_192],
    ["llama.cpp's slot", "/props", { default_generation_settings: { n_ctx: 6_144 } }, 6_144],
    [
      "LM Studio's",
      "/api/v0/models",
      { data: [{ id: "scripted", max_context_length: 131_072, loaded_context_length: 5_000 }] },
      5_000,
    ],
    ["vLLM's", "/v1/models", { data: [{ id: "scripted", max_model_len: 7_000 }] }, 7_000],
  ])(
    "%s, with room for the reply",
    async (_name, path, answer, window) => {
      const { model, gateway, lines } = await start();
      model.told[path] = answer;
      const sizes = await talk(gateway, model, 40);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(window * 0.8);
      expect(Math.max(...sizes)).toBeGreaterThan(window * 0.4);
      for (const [at, { max_tokens = 0 }] of model.requests.entries()) {
        expect(max_tokens).toBeGreaterThanOrEqual(window / 4 - 1);
        expect((sizes[at] ?? 0) + max_tokens).toBeLessThanOrEqual(window * 1.05);
      }
      const told = lines.filter((line) => line.includes("model.window"));
      expect(told).toHaveLength(1);
      expect(told[0]).toContain(`"tokens":${window}`);
      expect(model.breaches).toEqual([]);
    },
    60_000,
  );

  test("a window that is known only after the first reply costs no summary of what fits", async () => {
    const { model, gateway } = await start();
    model.told["/api/ps"] = loaded(32_768);
    await talk(gateway, model, 30);
    const before = model.requests.length;
    // The server forgets the model, and the gateway everything that it learned.
    model.told["/api/ps"] = { models: [] };
    const again = await start({ LLM_BASE_URL: model.url });
    for (let nth = 0; nth < 14; nth += 1) {
      if (nth === 1) model.told["/api/ps"] = loaded(32_768);
      await say(again.gateway, script(answering(nth)), "other");
    }
    expect(model.requests.slice(before).every(({ question }) => question !== "")).toBe(true);
    expect(model.requests.at(-1)?.messages.length).toBe(2 * 14);
  }, 60_000);

  test("HISTORY_MAX_TOKENS counts all that is sent, and wins where it is smaller", async () => {
    const { model, gateway } = await start({ HISTORY_MAX_TOKENS: "3000" });
    model.told["/api/ps"] = loaded(16_384);
    const sizes = await talk(gateway, model, 30);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(3_100);
    expect(Math.max(...sizes)).toBeGreaterThan(2_000);
  }, 60_000);

  test("a larger one does not: the window does", async () => {
    const { model, gateway } = await start({ HISTORY_MAX_TOKENS: "100000" });
    model.told["/api/ps"] = loaded(4_096);
    expect(Math.max(...(await talk(gateway, model, 20)))).toBeLessThanOrEqual(4_096 * 0.8);
  }, 60_000);

  test("a server that tells nothing is taken to have 8,000, unless HISTORY_MAX_TOKENS says otherwise", async () => {
    const unknown = await start();
    expect(Math.max(...(await talk(unknown.gateway, unknown.model, 40)))).toBeLessThanOrEqual(6_500);
    const set = await start({ HISTORY_MAX_TOKENS: "24000" });
    expect(Math.max(...(await talk(set.gateway, set.model, 40)))).toBeGreaterThan(7_500);
  }, 60_000);
});

describe("L13: a request that is too long", () => {
  const refusal = (limit: number, sent: number): Step => ({
    status: 400,
    body: { error: { message: `prompt is too long: ${sent} tokens > ${limit} maximum` } },
  });

  test("is shortened to what was told, once, and answered", async () => {
    const { model, gateway } = await start({ HISTORY_MAX_TOKENS: "24000" });
    await talk(gateway, model, 20);
    const before = model.requests.length;
    expect(await say(gateway, script(refusal(3_000, 4_000), { text: "here I am" }))).toMatchObject({
      status: "done",
      answer: "here I am",
    });
    // The refused one, a summary of what no longer fits, and the shorter one.
    const after = model.requests.slice(before);
    expect(after.map(({ question }) => question !== "")).toEqual([true, false, true]);
    expect(sizeOf(after[2] as ModelRequest)).toBeLessThan(3_000);
    // The next turn knows.
    const next = model.requests.length;
    await say(gateway, script({ text: "next" }));
    expect(model.requests.slice(next)).toHaveLength(1);
  }, 60_000);

  test("and is still refused: the answer names the setting and the numbers, after two requests", async () => {
    const { model, gateway } = await start({ HISTORY_MAX_TOKENS: "24000" });
    const { status, answer } = await say(
      gateway,
      script(refusal(900, 1_200), refusal(900, 1_100), { text: "no" }),
    );
    expect(status).toBe("failed");
    expect(answer).toContain("prompt is too long: 1100 tokens > 900 maximum");
    expect(answer).toContain("About 1,100 tokens were sent, and the model takes 900 tokens.");
    expect(answer).toMatch(/a model with a larger window|HISTORY_MAX_TOKENS/);
    expect(answer).not.toMatch(/begin a new|later/);
    expect(model.requests).toHaveLength(2);
  });

  test("at Ollama: the answer names OLLAMA_CONTEXT_LENGTH", async () => {
    const { model, gateway } = await start();
    model.told["/api/ps"] = { models: [] };
    const words = "the input length exceeds the context length";
    const fault: Step = { status: 400, body: { error: { message: words } } };
    const { answer } = await say(gateway, script(fault, fault));
    expect(answer).toContain("OLLAMA_CONTEXT_LENGTH");
  });

  test("too many max_tokens are lowered to what was told, and remembered", async () => {
    const { model, gateway } = await start();
    const fault: Step = {
      status: 400,
      body: {
        error: {
          message:
            "max_tokens is too large: 4096. This model supports at most 2048 completion tokens, whereas you provided 4096.",
        },
      },
    };
    expect(await say(gateway, script(fault, { text: "fine" }))).toMatchObject({
      status: "done",
      answer: "fine",
    });
    await say(gateway, script({ text: "again" }), "other");
    expect(model.requests.map(({ max_tokens }) => max_tokens)).toEqual([4_096, 2_048, 2_048]);
    const still = await say(gateway, script(fault, fault), "third");
    expect(still.answer).toContain(
      "The model gives at most 2,048 tokens in a reply: set MAX_TOKENS to 2048 or less.",
    );
  });
});
