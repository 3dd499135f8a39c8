import fc from "fast-check";
import OpenAI from "openai";
import { afterAll, expect, test } from "vitest";
import { STAND_IN_MODEL, startStandIn } from "./server.ts";

const standIn = await startStandIn();
afterAll(() => standIn.stop());
const client = new OpenAI({ baseURL: standIn.baseUrl, apiKey: "none", maxRetries: 0 });
const disk = {
  type: "function" as const,
  function: { name: "disk", description: "Disk use.", parameters: {} },
};
const ask = {
  model: STAND_IN_MODEL,
  messages: [{ role: "user" as const, content: "How full is the disk?" }],
};

test("the openai client gets a call, whole and streamed", async () => {
  const whole = await client.chat.completions.create({ ...ask, tools: [disk] });
  expect(whole.choices[0]?.finish_reason).toBe("tool_calls");
  expect(whole.choices[0]?.message.tool_calls?.[0]).toMatchObject({
    type: "function",
    function: { name: "disk" },
  });
  expect(whole.usage?.total_tokens).toBeGreaterThan(0);

  const stream = client.chat.completions.stream({
    ...ask,
    tools: [disk],
    stream_options: { include_usage: true },
  });
  const streamed = await stream.finalChatCompletion();
  expect(streamed.choices[0]?.message.tool_calls?.[0]).toMatchObject({
    function: { name: "disk", arguments: "{}" },
  });
  expect(streamed.usage?.prompt_tokens).toBeGreaterThan(0);
});

test("a streamed text is the whole text", async () => {
  const whole = await client.chat.completions.create(ask);
  const streamed = await client.chat.completions.stream(ask).finalChatCompletion();
  expect(streamed.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
  expect(streamed.choices[0]?.finish_reason).toBe("stop");
});

test("the list of models says what it is", async () => {
  const models = await client.models.list();
  expect(models.data).toMatchObject([
    { id: "stand-in", owned_by: expect.stringContaining("not a language model") },
  ]);
});

test("errors have OpenAI's form and name the field", async () => {
  await expect(client.chat.completions.create({ ...ask, messages: [] })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("messages"),
    type: "invalid_request_error",
  });
  expect((await fetch(`${standIn.baseUrl}/embeddings`, { method: "POST", body: "{}" })).status).toBe(404);
  expect((await fetch(`${standIn.baseUrl}/chat/completions`)).status).toBe(405);
});

test("no body brings it down", async () => {
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({
        model: fc.string(),
        messages: fc.array(fc.object()),
        tools: fc.anything(),
        stream: fc.boolean(),
      })
      .map((value) => JSON.stringify(value)),
    fc
      .record({ role: fc.constantFrom("user", "tool", "assistant", "system"), content: fc.string() })
      .map((message) => JSON.stringify({ model: "m", messages: [message], stream: message.role === "tool" })),
  );
  await fc.assert(
    fc.asyncProperty(body, async (text) => {
      const response = await fetch(`${standIn.baseUrl}/chat/completions`, { method: "POST", body: text });
      await response.text();
      expect(response.status).toBeLessThan(500);
    }),
    { numRuns: 100 },
  );
});
