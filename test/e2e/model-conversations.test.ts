/** Conversations of several turns with endpoints that are strict, or whose models think: each goes on, and pays once. */
import { afterAll, describe, expect, test } from "vitest";
import { playEndpoint } from "../cases/model-endpoint/endpoint.ts";
import { PICTURE_REFUSALS, PICTURES } from "../cases/model-endpoint/forms.ts";
import {
  type Body,
  delta,
  final,
  finish,
  fn,
  inTurn,
  type Message,
  oneCall,
  type Play,
  pieces,
  type Reply,
  refuse,
  say,
  stream,
  strict,
  wanted,
} from "../cases/model-endpoint/replies.ts";
import { until } from "../wait.ts";
import type { Turn } from "./gateway-client.ts";
import { useStack } from "./stack.ts";

const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const THOUGHT = "I ask the device.";

/** What an endpoint refuses in a history. */
const HISTORIES: Record<string, readonly [isBreach: (message: Message) => boolean, refused: Reply]> = {
  "null": [({ role, content }) => role === "assistant" && content === null, refuse(400, { error: { message: "Invalid 'messages': message content must be a string, got null" } })],
  "ids": [({ tool_calls }) => (tool_calls ?? []).some(({ id }) => !/^[A-Za-z0-9]{9}$/.test(id)), refuse(400, { object: "error", message: "Tool call id was call_x but must be a-z, A-Z, 0-9, with a length of 9." })],
  "names": [({ role, name }) => role === "tool" && !name, refuse(400, [{ error: { code: 400, message: "GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty." } }])],
  "thoughts": [(message) => "reasoning_content" in message, refuse(422, { detail: [{ type: "extra_forbidden", loc: ["body", "messages", 2, "assistant", "reasoning_content"], msg: "Extra inputs are not permitted" }] })],
}; // biome-ignore format: a table
const strictCase = ([isBreach, refused]: readonly [(message: Message) => boolean, Reply]): Play =>
  strict(
    ({ messages }) => messages.some(isBreach) && refused,
    () => say("It goes on."),
  );

/** Thinks, and calls the device. */
const thinks: Play = (asked) => {
  const call = {
    index: 0,
    id: "functions.edge_call:0",
    type: "function",
    function: fn(wanted(asked)),
    extra_content: { google: { thought_signature: "sig" } },
  };
  return stream(delta({ reasoning_content: THOUGHT }), pieces(call), finish("tool_calls"));
};
const asksDevice: Play = (asked) => {
  const query = `Please look [[d/held:${asked.tag.split(".")[2]}]]`;
  const call = {
    index: 0,
    id: "functions.edge_call:0",
    type: "function",
    function: fn({ name: "edge_call", args: { agent_id: "pi", query } }),
  };
  return stream(delta({ reasoning_content: THOUGHT }), pieces(call), finish("tool_calls"));
};

const held = Promise.withResolvers<void>();
const CASES: Record<string, { play: Play }> = {
  ...PICTURES,
  ...Object.fromEntries(
    Object.entries(HISTORIES).map(([name, one]) => [`h-${name}`, { play: strictCase(one) }]),
  ),
  call: { play: inTurn(oneCall, final) },
  thinks: { play: inTurn(thinks, final) },
  plain: { play: () => say("Well.") },
  killed: { play: inTurn(asksDevice, final) },
  held: {
    play: async () => {
      await held.promise;
      return say("The device says so.");
    },
  },
  // The first model ends with its first reply; the other one answers.
  "fails-over": {
    play: (asked) =>
      asked.body.model !== "m" ? final(asked) : asked.at === 0 ? thinks(asked) : refuse(500, ""),
  },
};

const endpoint = await playEndpoint(CASES, () => "pi");
afterAll(() => endpoint.close());
const NAMES = [...Object.keys(PICTURE_REFUSALS), ...Object.keys(HISTORIES), "thinker", "other"];
const vars = {
  LLM_BASE_URL: endpoint.url,
  LLM_MODEL: "m",
  LLM_MODELS: JSON.stringify(NAMES.map((name) => ({ name, base_url: endpoint.url, model: name }))),
};
const stack = useStack({ vars }, async (made) => {
  await made.startAgent({ id: "pi", env: { LLM_BASE_URL: endpoint.url, LLM_MODEL: "device" } });
  await made.gateway.online("pi");
});

type Said = { turn: Turn; requests: Body[] };

/** One turn. @param model a name; absent: any */
async function ask(
  conversation: string,
  name: string,
  { model, images }: { model?: string; images?: string[] } = {},
): Promise<Said> {
  const run = crypto.randomUUID().slice(0, 8);
  const body = JSON.stringify({
    text: `Please [[${name}:${run}]]`,
    ...(model && { model }),
    ...(images && { images }),
  });
  const response = await stack.gateway.fetch(`/v1/conversations/${conversation}/messages`, {
    method: "POST",
    body,
  });
  const turn = (await response.json()) as Turn;
  return { turn, requests: endpoint.requests(`${name}:${run}`) };
}

describe("L3: a conversation with a picture goes on, and pays once:", () => {
  test.each(Object.keys(PICTURE_REFUSALS))("%s", async (model) => {
    const conversation = crypto.randomUUID();
    const first = await ask(conversation, `e-img${model}`, { model, images: [PIXEL] });
    expect(first.turn).toMatchObject({ status: "done", answer: "no picture seen" });
    expect(first.requests).toHaveLength(2);
    expect(JSON.stringify(first.requests[1]?.messages)).toContain("a picture that this model cannot see");
    const second = await ask(conversation, `e-img${model}`, { model });
    expect(second.turn).toMatchObject({ status: "done", answer: "no picture seen" });
    expect(second.requests).toHaveLength(1);
    const other = await ask(crypto.randomUUID(), `e-img${model}`, { model, images: [PIXEL] });
    expect(other.turn).toMatchObject({ status: "done", answer: "no picture seen" });
    expect(other.requests).toHaveLength(1);
  });
});

describe("L9: a conversation whose history an endpoint refuses goes on, and pays once:", () => {
  test.each(Object.keys(HISTORIES))("%s", async (model) => {
    const conversation = crypto.randomUUID();
    // As an endpoint that takes anything left it.
    const before = await ask(conversation, "thinks", { model });
    expect(before.turn).toMatchObject({ status: "done" });
    for (const requests of [2, 1]) {
      const next = await ask(conversation, `h-${model}`, { model });
      expect(next.turn).toMatchObject({ status: "done", answer: "It goes on." });
      expect(next.requests).toHaveLength(requests);
    }
  });
});

const thoughtsIn = ({ messages }: Body = { messages: [] }) =>
  messages.flatMap((it) =>
    it.role === "assistant" && "reasoning_content" in it ? [it.reasoning_content] : [],
  );
/** What only the model that gave it may see. */
const OWN = /reasoning_content|thought_signature|functions\.edge_call:0/;

describe("L1: what a reply carried", () => {
  test("goes back to its model in the turn and in the next, and to no other model between them", async () => {
    const conversation = crypto.randomUUID();
    const first = await ask(conversation, "thinks", { model: "thinker" });
    expect(first.turn.status).toBe("done");
    expect(thoughtsIn(first.requests[1])).toEqual([THOUGHT]);
    expect(JSON.stringify(first.requests[1])).toContain('"thought_signature":"sig"');
    const other = await ask(conversation, "plain", { model: "other" });
    expect(JSON.stringify(other.requests[0]?.messages)).not.toMatch(OWN);
    const again = await ask(conversation, "plain", { model: "thinker" });
    expect(thoughtsIn(again.requests[0])).toEqual([THOUGHT]);
  });

  test("outlives a SIGKILL of the Worker between the two requests", async () => {
    const run = crypto.randomUUID().slice(0, 8);
    const conversation = crypto.randomUUID();
    const turn = await stack.gateway.begin(`Please [[killed:${run}]]`, conversation);
    await until(() => endpoint.requests(`d/held:${run}`).length === 1, { what: "the device asks its model" });
    await stack.worker.kill();
    held.resolve();
    await stack.startWorker();
    const ended = await stack.gateway.settled(conversation, turn);
    expect(ended).toMatchObject({ status: "done", answer: expect.stringContaining("The device says so.") });
    const requests = endpoint.requests(`killed:${run}`);
    expect(requests).toHaveLength(2);
    expect(thoughtsIn(requests[1])).toEqual([THOUGHT]);
    expect(JSON.stringify(requests[1]?.messages).match(/functions\.edge_call:0/g)).toHaveLength(2);
  });

  test("does not go to the model that takes over within a turn", async () => {
    const { turn, requests } = await ask(crypto.randomUUID(), "fails-over");
    expect(turn).toMatchObject({ status: "done", answer: expect.stringMatching(/^FINAL\(/) });
    const [first, ...rest] = requests;
    expect(first?.model).toBe("m");
    const own = rest.filter(({ model }) => model === "m");
    const others = rest.filter(({ model }) => model !== "m");
    for (const body of own) expect(thoughtsIn(body)).toEqual([THOUGHT]);
    expect(others).toHaveLength(1);
    expect(JSON.stringify(others[0]?.messages)).not.toMatch(OWN);
    // The call's result is there all the same.
    expect(others[0]?.messages.filter(({ role }) => role === "tool")).toHaveLength(1);
  });
});
