/**
 * The relay in workerd: the tokens that it accepts, the parts of a request that reach the model, and what is counted.
 */
import { exports } from "cloudflare:workers";
import type { ChatMessage } from "@edgecall/core/loop/messages.ts";
import { callModel } from "@edgecall/core/loop/model.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import { modelCalls, modelRequest, modelRequests } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { SignedAgent } from "../../../test/signed-agent.ts";
import { setVariables } from "../../../test/variables.ts";
import { until } from "../../../test/wait.ts";
import { ask } from "../../../test/workerd.ts";
import { Home } from "../../home.ts";

const worker = (exports as unknown as { default: Fetcher }).default;
const PLACE = "gateway/v1/relay/a";
const URL_OF_RELAY = `https://${PLACE}`;

async function paired(): Promise<SignedAgent> {
  const agent = await SignedAgent.make(`pi-${crypto.randomUUID().slice(0, 8)}`);
  const body = JSON.stringify({ public_key: agent.publicKey });
  const { status } = await ask(`/v1/agents/${agent.id}/key`, { method: "POST", body });
  expect(status).toBe(200);
  return agent;
}

async function relay(token: string | undefined, body: object, url = URL_OF_RELAY) {
  const response = await worker.fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, error: errorIn(text) };
}

function errorIn(text: string): { code: string; message: string } | undefined {
  return text.startsWith("{") ? JSON.parse(text).error : undefined;
}

const question = (content: string, more: object = {}) => ({ messages: [{ role: "user", content }], ...more });

test("the agent's own client gets its answer, streamed, from the gateway's model", async () => {
  const agent = await paired();
  const text = script({ text: "21 °C." });
  const told: string[] = [];
  const reply = await callModel(
    {
      baseUrl: URL_OF_RELAY,
      model: "whatever-the-device-calls-it",
      apiKey: await agent.relayToken(PLACE),
      maxTokens: 100,
      temperature: 0,
    },
    { messages: [{ role: "user", content: text }], tools: [], onText: (delta) => told.push(delta) },
    (url, init) => worker.fetch(url, init as never) as never,
  );
  expect(reply).toMatchObject({ text: "21 °C." });
  expect(told.join("")).toBe("21 °C.");
  expect(await modelRequest(text)).toMatchObject({ model: "scripted" });
});

test("a gateway's model of Anthropic's form answers a device in the form that it knows", async () => {
  const agent = await paired();
  setVariables({ LLM_API: "anthropic" });
  const text = script(
    { calls: [{ name: "ls", arguments: { path: "/" } }], text: "I look.", thinks: "hm" },
    { text: "Seen: $results" },
    { text: "Whole." },
    { status: 401, body: { error: { message: "wrong key sk-secret" } } },
    { status: 529, headers: { "retry-after": "7" }, body: { error: { message: "Overloaded" } } },
  );
  const settings = { baseUrl: URL_OF_RELAY, model: "m", maxTokens: 100, temperature: 0 };
  const told: string[] = [];
  const ask = async (...more: ChatMessage[]) =>
    callModel(
      { ...settings, apiKey: await agent.relayToken(PLACE) },
      {
        messages: [{ role: "system", content: "Be brief." }, { role: "user", content: text }, ...more],
        tools: [
          {
            type: "function",
            function: { name: "ls", description: "lists", parameters: { type: "object" } },
          },
        ],
        onText: (delta) => told.push(delta),
      },
      (url, init) => worker.fetch(url, init as never) as never,
    );
  const reply = await ask();
  expect(reply).toMatchObject({
    text: "I look.",
    calls: [{ name: "ls", rawArguments: '{"path":"/"}' }],
    usage: { input_tokens: 10, output_tokens: 5 },
    finish: "tool_calls",
  });
  expect(told.length).toBeGreaterThan(1);
  const id = reply.calls[0]?.id ?? "";
  const call = { id, type: "function" as const, function: { name: "ls", arguments: '{"path":"/"}' } };
  const seen = await ask(
    {
      role: "assistant",
      content: reply.text,
      tool_calls: [call],
      replay: { from: reply.from ?? "", ...reply.replay },
    },
    { role: "tool", tool_call_id: id, content: "etc" },
  );
  expect(seen.text).toBe("Seen: etc");
  const [first] = await modelRequests({ question: text });
  expect(first?.body).toMatchObject({ max_tokens: 100, system: [{ text: "Be brief." }] });
  const whole = await relay(await agent.relayToken(PLACE), question(text));
  expect(JSON.parse(whole.text)).toMatchObject({ choices: [{ message: { content: "Whole." } }] });
  const wrongKey = await relay(await agent.relayToken(PLACE), question(text));
  expect(wrongKey).toMatchObject({ status: 502, error: { code: "model_refused" } });
  expect(wrongKey.text).not.toContain("sk-secret");
  expect(await relay(await agent.relayToken(PLACE), question(text, { stream: true }))).toMatchObject({
    status: 502,
    error: { message: "Overloaded" },
  });
});

test("a token that no device here made is refused, and no object is woken without need", async () => {
  const agent = await paired();
  const stranger = await SignedAgent.make(agent.id);
  const text = script({ text: "no" });
  const woken = vi.spyOn(Home.prototype, "relay.admit");
  onTestFinished(() => woken.mockRestore());
  const [body = "", signature = ""] = (await agent.relayToken(PLACE)).split(".");
  const other = btoa(JSON.stringify({ agent: agent.id, exp: 9e9, for: PLACE, nonce: "12345678" })).replaceAll(
    "=",
    "",
  );
  const before: Array<[string | undefined, RegExp]> = [
    [undefined, /a relay token is needed/],
    ["not-a-token", /no relay token/],
    [`${body}.${signature}x`, /no relay token/],
    [await agent.relayToken(PLACE, -1), /expired/],
    [await agent.relayToken(PLACE, 3_600), /longer than five minutes/],
    [`${other}.${signature}`, /longer than five minutes/],
    [await agent.relayToken("elsewhere/v1/relay/a"), /another address/],
    [await agent.relayToken("gateway/v1/relay/b"), /another address/],
  ];
  for (const [token, words] of before) {
    const { status, error } = await relay(token, question(text));
    expect({ status, message: error?.message }).toEqual({
      status: 401,
      message: expect.stringMatching(words),
    });
  }
  expect(woken).not.toHaveBeenCalled();
  // Only the home can detect these: a key that is not registered there, or not any more.
  expect(await relay(await stranger.relayToken(PLACE), question(text))).toMatchObject({ status: 401 });
  const ofB = await agent.relayToken("gateway/v1/relay/b");
  expect(await relay(ofB, question(text), "https://gateway/v1/relay/b")).toMatchObject({ status: 401 });
  expect((await ask(`/v1/agents/${agent.id}/key`, { method: "DELETE" })).status).toBe(204);
  expect(await relay(await agent.relayToken(PLACE), question(text))).toMatchObject({ status: 401 });
  expect(woken).toHaveBeenCalledTimes(3);
  expect(await modelCalls(text)).toBe(0);
});

test("a device's share of the day is used up, and another device's is not", async () => {
  const agent = await paired();
  const text = script({ text: "one" }, { text: "two" }, { text: "of another" });
  // The scripted model reports about 12 tokens for each answer; the reserve is much more than the rest.
  setVariables({ RELAY_DAY_TOKENS: "420" });
  const asked = question(text, { max_tokens: 300 });
  expect(await relay(await agent.relayToken(PLACE), asked)).toMatchObject({ status: 200 });
  // Unused reserved tokens are given back.
  const again = await relay(await agent.relayToken(PLACE), asked);
  expect(again).toMatchObject({ status: 200 });
  setVariables({ RELAY_DAY_TOKENS: "300" });
  const over = await relay(await agent.relayToken(PLACE), asked);
  expect(over).toMatchObject({ status: 429, error: { code: "insufficient_quota" } });
  expect(over.error?.message).toContain("RELAY_DAY_TOKENS");
  setVariables({ RELAY_DAY_TOKENS: "420" });
  const other = await paired();
  expect(await relay(await other.relayToken(PLACE), asked)).toMatchObject({ status: 200 });
  expect(await modelCalls(text)).toBe(3);
});

test("S8 a request counts even if the client disconnects before the answer", async () => {
  const agent = await paired();
  setVariables({ RELAY_DAY_TOKENS: "1000" });
  const asked = async (signal?: AbortSignal) => {
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${await agent.relayToken(PLACE)}`,
    };
    const body = JSON.stringify(question(text, { max_tokens: 300 }));
    return await worker.fetch(`${URL_OF_RELAY}/chat/completions`, {
      method: "POST",
      headers,
      body,
      ...(signal && { signal }),
    });
  };
  const text = script({ hang: "before" }, { hang: "before" }, { text: "late" });
  for (let n = 1; n <= 2; n += 1) {
    const control = new AbortController();
    const answer = asked(control.signal).catch(() => undefined);
    await until(async () => (await modelCalls(text)) === n);
    control.abort();
    await answer;
  }
  // Each reserved 300 and its question; there is no room for a third.
  const third = await asked();
  expect(third.status).toBe(429);
  expect(await modelCalls(text)).toBe(2);
});

test("the home's budget applies to devices too", async () => {
  const agent = await paired();
  const text = script({ text: "no" });
  setVariables({ BUDGET_DAY_TOKENS: "0" });
  expect(await relay(await agent.relayToken(PLACE), question(text))).toMatchObject({ status: 429 });
  expect(await modelCalls(text)).toBe(0);
});

test("a model's fault is reported without the gateway's secrets", async () => {
  const agent = await paired();
  const text = script(
    { status: 401, body: { error: { message: "wrong key sk-secret" } } },
    { status: 429, headers: { "retry-after": "7" }, body: { error: { message: "slow down" } } },
  );
  const wrongKey = await relay(await agent.relayToken(PLACE), question(text));
  expect(wrongKey).toMatchObject({ status: 502, error: { code: "model_refused" } });
  expect(wrongKey.text).not.toContain("sk-secret");
  expect(await relay(await agent.relayToken(PLACE), question(text))).toMatchObject({
    status: 429,
    error: { message: "slow down" },
  });
});

test.each<[string, object]>([
  ["no messages", {}],
  ["an empty list", { messages: [] }],
  ["messages of something else", { messages: ["hello"] }],
  ["a limit that is none", question("x", { max_tokens: -1 })],
])("a body with %s is refused with the field's name", async (_name, body) => {
  const agent = await paired();
  expect(await relay(await agent.relayToken(PLACE), body)).toMatchObject({
    status: 400,
    error: { code: "invalid_body", message: expect.stringMatching(/messages|max_tokens/) },
  });
});
