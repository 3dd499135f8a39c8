/** The habits of endpoints over real HTTP, each of which has one. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { bodyOf, calls, delta, Endpoint, event, finish, text } from "../testkit/endpoint.ts";
import { findHabits, type Habit } from "./habits.ts";
import { verdictOf } from "./verdict.ts";

type Body = {
  messages: Array<Record<string, unknown> & { role: string }>;
  tools?: unknown;
  max_tokens?: number;
};

let endpoint: Endpoint;
beforeEach(async () => {
  endpoint = await Endpoint.start();
});
afterEach(() => endpoint.stop());

const CALLS = calls(
  { index: 0, id: "a", function: { name: "read_temperature", arguments: '{"room":"kitchen"}' } },
  { index: 1, id: "b", function: { name: "read_temperature", arguments: '{"room":"attic"}' } },
);

/** A model that behaves; `odd` answers in its place where it returns events or a refusal. */
function behaves(
  odd: (body: Body) => unknown[] | { status: number; error: string } | undefined = () => undefined,
) {
  endpoint.handle = async (request, response) => {
    const body = (await bodyOf(request)) as Body;
    const strange = odd(body);
    if (strange && !Array.isArray(strange)) {
      response.writeHead(strange.status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: strange.error } }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const one of strange ?? usual(body)) response.write(event(one));
    response.end(event("[DONE]"));
  };
}

function usual({ messages, tools, max_tokens = 0 }: Body): unknown[] {
  if (max_tokens < 50) return [text("one, two"), finish("length")];
  if (messages.some(({ role }) => role === "tool")) return [text("21.5 °C in both."), finish("stop")];
  return tools ? [CALLS, finish("tool_calls")] : [text("Red."), finish("stop")];
}

const seen = (habits: readonly Habit[], name: string) => habits.find(({ habit }) => habit === name)?.seen;

test("a model without odd habits is good enough", async () => {
  behaves();
  const habits = await findHabits(endpoint.settings);
  expect(Object.fromEntries(habits.map(({ habit, seen }) => [habit, seen]))).toEqual({
    form: "OpenAI's chat completions",
    stream: "events, as text/event-stream",
    "calls tools": "2 in one reply",
    "tells tokens": "no",
    thoughts: "none",
    "takes results": "yes, and tells them",
    pictures: "taken and seen",
    "a cut answer": "marked as cut",
  });
  expect(verdictOf(habits, [{ flow: "one reading", result: "ok" }]).isGood).toBe(true);
});

test("thoughts that have to come back are found, and sent back", async () => {
  behaves(({ messages, tools }) => {
    if (!tools) return undefined;
    if (!messages.some(({ role }) => role === "tool"))
      return [delta({ reasoning_content: "Both." }), CALLS, finish("tool_calls")];
    const asked = messages.find((message) => message.tool_calls);
    return asked?.reasoning_content === "Both."
      ? undefined
      : { status: 400, error: "Missing reasoning_content" };
  });
  const habits = await findHabits(endpoint.settings);
  expect(seen(habits, "thoughts")).toBe("reasoning_content");
  expect(seen(habits, "takes results")).toBe("yes, and tells them");
});

test("refused forms are told, with what edgecall sends in their place", async () => {
  behaves((body) => {
    if ("temperature" in body) return { status: 400, error: "temperature is not supported with this model" };
    const hasPicture = JSON.stringify(body.messages).includes("image_url");
    return hasPicture ? { status: 404, error: "No endpoints found that support image input" } : undefined;
  });
  const habits = await findHabits(endpoint.settings);
  expect(habits).toContainEqual({
    habit: "refuses a form",
    seen: "no temperature",
    edgecall: "leaves temperature out",
  });
  expect(seen(habits, "pictures")).toBe("refused");
});

test.each<[string, Parameters<typeof behaves>[0], RegExp]>([
  [
    "answers without a call",
    ({ tools }) => (tools ? [text("It is warm."), finish("stop")] : undefined),
    /calls tools: it answered/,
  ],
  ["refuses the key", () => ({ status: 401, error: "Incorrect API key" }), /answers: .*Incorrect API key/],
  [
    "writes calls as text",
    ({ tools }) =>
      tools
        ? [
            text('<tool_call>{"name": "read_temperature", "arguments": {"room": "attic"}}</tool_call>'),
            finish("stop"),
          ]
        : undefined,
    /wrote the call of read_temperature as text/,
  ],
])("a model that %s is not good enough", async (_, odd, why) => {
  behaves(odd);
  const verdict = verdictOf(await findHabits(endpoint.settings), []);
  expect(verdict.isGood).toBe(false);
  expect(verdict.text).toMatch(why);
});

test("a flow that went wrong is named", () => {
  expect(verdictOf([], [{ flow: "one reading", result: "it invented a reading" }]).text).toContain(
    "one reading: it invented a reading",
  );
});
