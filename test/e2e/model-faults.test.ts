/** A model endpoint that misbehaves: in each case the person gets an answer in words. */
import { describe, expect, test } from "vitest";
import { type Step, script } from "../scripted-model.ts";
import { useStack } from "./stack.ts";

/** So long that a busy machine's own pauses are not taken for an endpoint's silence. */
const TIMEOUTS = {
  MODEL_FIRST_BYTE_MS: "4000",
  MODEL_BETWEEN_BYTES_MS: "4000",
  MODEL_TOTAL_MS: "30000",
  MAX_TOOL_ITERATIONS: "4",
};

const stack = useStack({ vars: TIMEOUTS }, async (stack) => {
  await stack.startAgent({ id: "pi", model: true });
  await stack.gateway.online("pi");
});

const ask = (...steps: Step[]) => stack.gateway.ask(script(...steps));
const call = (args: unknown, more: { id?: string; name?: string } = {}) => ({ arguments: args, ...more });
const MEMORY = { agent_id: "pi", action: "memory" };
const DISK = { agent_id: "pi", action: "disk" };

/** Makes an event stream of these events, and ends it. */
const stream = (...chunks: unknown[]) =>
  [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
const choice = (delta: unknown, finish_reason: string | null = null) => ({
  model: "scripted",
  choices: [{ index: 0, delta, finish_reason }],
});

describe.concurrent("a temporary fault is retried:", () => {
  const passing: Array<[string, Step]> = [
    ["429 with Retry-After", { status: 429, headers: { "retry-after": "1" } }],
    ["500", { status: 500 }],
    ["503 with a page of HTML", { status: 503, body: "<html>sorry</html>" }],
    ["a stream that breaks off", { breakOff: true }],
    ["silence before the first byte", { hang: "before" }],
    ["silence in the middle", { hang: "middle" }],
    ["a stream that is not JSON", { raw: 'data: {"choices": [\n\n' }],
    ["an empty answer", { text: "" }],
    ["an error in the stream", { raw: stream({ error: { message: "overloaded", code: 503 } }) }],
  ];
  test.for(passing)("%s", async ([, fault]) => {
    expect(await ask(fault, { text: "here I am" })).toMatchObject({ status: "done", answer: "here I am" });
  });

  test("in the middle of a turn, after a call", async () => {
    const turn = await ask(
      { calls: [call(MEMORY)] },
      { breakOff: true },
      { status: 500 },
      { text: "$results" },
    );
    expect(turn.answer).toContain("RAM 50% used");
    expect(turn.calls).toHaveLength(1);
  });

  test("at the device's own model", async () => {
    const query = script(
      { status: 500 },
      { breakOff: true },
      { calls: [call({}, { name: "memory" })] },
      {
        text: "$results",
      },
    );
    const turn = await ask({ calls: [call({ agent_id: "pi", query })] }, { text: "$results" });
    expect(turn.answer).toContain("RAM 50% used");
  });
});

describe.concurrent("a permanent fault is explained in words:", () => {
  test("a refused key", async () => {
    const turn = await ask({ status: 401, body: { error: { message: "Incorrect API key" } } });
    expect(turn).toMatchObject({ status: "failed", answer: expect.stringContaining("Incorrect API key") });
  });

  test("an endpoint that never recovers", async () => {
    const turn = await ask(...Array.from({ length: 9 }, () => ({ status: 500 })));
    expect(turn).toMatchObject({ status: "failed", answer: expect.stringContaining("answered 500") });
  });

  test("after a call, the call's result is not lost", async () => {
    const turn = await ask(
      { calls: [call(MEMORY)] },
      { status: 400, body: { error: { message: "no more" } } },
    );
    expect(turn).toMatchObject({ status: "failed", calls: [{ status: "success" }] });
    expect(turn.answer).toContain("no more");
  });
});

describe.concurrent("G9 a failure names its cause, the setting, and what to do:", () => {
  const causes: Array<[string, Step, string[]]> = [
    ["401", { status: 401, body: { error: { message: "bad key" } } }, ["401: bad key", "LLM_API_KEY"]],
    [
      "404",
      { status: 404, body: { error: { message: "no such model" } } },
      ["no such model", "LLM_MODEL", "LLM_BASE_URL"],
    ],
    ["400", { status: 400, body: { error: { message: "too long" } } }, ["too long", "MAX_TOKENS"]],
    [
      "429 without credit",
      { status: 429, body: { error: { message: "pay", code: "insufficient_quota" } } },
      ["429: pay", "no credit left"],
    ],
  ];
  test.for(causes)("%s", async ([, fault, words]) => {
    const turn = await ask(fault);
    expect(turn.status).toBe("failed");
    for (const part of words) expect(turn.answer).toContain(part);
    expect(turn.answer).not.toContain("try again later");
  });

  test("a wait that the endpoint requests is shown while it lasts", async () => {
    const text = script(
      { status: 429, headers: { "retry-after": "2" }, body: { error: { message: "slow down" } } },
      { text: "here I am" },
    );
    const response = await stack.gateway.fetch(`/v1/conversations/${crypto.randomUUID()}/messages`, {
      method: "POST",
      headers: { accept: "text/event-stream" },
      body: JSON.stringify({ text }),
    });
    const events = await response.text();
    const waiting = /event: waiting\ndata: (.*)/.exec(events)?.[1] ?? "{}";
    expect(JSON.parse(waiting)).toEqual({
      until: expect.any(Number),
      text: "the model endpoint answered 429: slow down",
    });
    expect(events.indexOf("event: waiting")).toBeLessThan(events.indexOf("here I am"));
  });

  test("a reply of 10 MB is refused in words, and is not requested again (G10)", async () => {
    const text = script({ chars: 10_000_000 });
    const asked = stack.model.requests.length;
    const turn = await stack.gateway.ask(text);
    expect(turn.status).toBe("failed");
    expect(turn.answer).toContain("longer than 500,000 characters");
    const own = stack.model.requests
      .slice(asked)
      .filter(({ messages }) => JSON.stringify(messages).includes(text.slice(7, 43)));
    expect(own).toHaveLength(1);
  });

  test("a reply just below the limit is stored, and the conversation continues (G10)", async () => {
    const conversation = crypto.randomUUID();
    const turn = await stack.gateway.ask(script({ chars: 490_000 }), conversation);
    expect(turn).toMatchObject({ status: "done", answer: "x".repeat(490_000) });
    expect(await stack.gateway.ask(script({ text: "next" }), conversation)).toMatchObject({ answer: "next" });
  });
});

describe("G9 an endpoint that cannot be reached", () => {
  const apart = useStack({ vars: { LLM_BASE_URL: "http://no-such-host.invalid/v1" } });

  test("is reported as such, with its setting", async () => {
    const turn = await apart.gateway.ask("hello");
    expect(turn.status).toBe("failed");
    expect(turn.answer).toContain("the model at no-such-host.invalid could not be reached");
    expect(turn.answer).toContain("LLM_BASE_URL");
    expect(turn.answer).not.toMatch(/internal error|reference =/);
  });
});

describe.concurrent("odd calls are repaired or answered:", () => {
  test("arguments of broken JSON", async () => {
    const turn = await ask(
      { calls: [call('{"agent_id": "pi", "action": ')] },
      { calls: [call(MEMORY)] },
      {
        text: "$results",
      },
    );
    expect(turn.calls).toMatchObject([
      { status: "error", error_type: "invalid_params" },
      { status: "success" },
    ]);
    expect(turn.answer).toContain("RAM 50% used");
  });

  test("arguments as an object, without an id, with a finish_reason that does not match", async () => {
    const toolCalls = [{ index: 0, type: "function", function: { name: "edge_call", arguments: MEMORY } }];
    const turn = await ask(
      { raw: stream(choice({ tool_calls: toolCalls }), choice({}, "stop")) },
      {
        text: "$results",
      },
    );
    expect(turn.answer).toContain("RAM 50% used");
  });

  test("an unknown tool", async () => {
    const turn = await ask({ calls: [call({}, { name: "format_disk" })] }, { text: "$results" });
    expect(turn.calls).toMatchObject([{ status: "error", error_type: "not_found" }]);
    expect(turn.answer).toBe(
      "Error: Tool 'format_disk' not found. Available tools: edge_call.\nPlease choose an available tool or explain to the user.",
    );
  });

  test("several calls in one reply, with the same id, and again with it in the next", async () => {
    const twice = { calls: [call(MEMORY, { id: "same" }), call(DISK, { id: "same" })] };
    const turn = await ask(twice, twice, { text: "$results" });
    expect(turn.calls.map(({ action, status }) => `${action} ${status}`)).toEqual([
      "memory success",
      "disk success",
      "memory success",
      "disk success",
    ]);
    // In the order of the calls, in whatever order they were run.
    expect(turn.answer).toMatch(/^RAM[^|]*\| \/ \d+%[^|]*\| RAM[^|]*\| \/ \d+%/);
  });

  test("endless calls: at the limit the model is asked to sum up, without tools", async () => {
    const steps = Array.from({ length: 4 }, () => ({ calls: [call(MEMORY)] }));
    const question = script(...steps, { text: "This is what I have." });
    const turn = await stack.gateway.ask(question);
    expect(turn).toMatchObject({ status: "done", answer: "This is what I have." });
    const last = stack.model.requests.findLast(({ messages }) =>
      messages.some((m) => m.content === question),
    );
    expect(last?.tools).toEqual([]);
  });

  test("three failed batches in a row: the model is asked to sum up", async () => {
    const wrong = { calls: [call({ agent_id: "nobody", action: "memory" })] };
    const turn = await ask(wrong, wrong, wrong, { text: "It did not work." });
    expect(turn).toMatchObject({ status: "done", answer: "It did not work." });
    expect(turn.calls).toHaveLength(3);
  });
});

test("every history that the model received is valid", () => {
  expect(stack.model.requests.length).toBeGreaterThan(30);
  expect(stack.model.breaches).toEqual([]);
});
