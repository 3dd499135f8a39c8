import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ChatMessage } from "./messages.ts";
import { joined, REPLAY_MAX_CHARS, replayMembers, replayOf, sourceOf, withReplays } from "./replay.ts";
import { ReplyBuilder, toCalls } from "./reply.ts";

const SOURCE = "https://model.example/v1 m";

test("L1: an address and model, without what may be secret", () => {
  expect(sourceOf({ baseUrl: "https://u:p@model.example/v1/?key=k", model: "m" })).toBe(SOURCE);
  expect(sourceOf({ baseUrl: "https://model.example/v1", model: "m" })).toBe(SOURCE);
  expect(sourceOf({ baseUrl: "workers-ai://models", model: "m" })).toBe("workers-ai://models m");
  expect(sourceOf({ baseUrl: "no address", model: "m" })).toBe("no address m");
});

test("L1: what goes back is known by its name", () => {
  const extra_content = { google: { thought_signature: "s" } };
  const part = {
    content: "hi",
    role: "assistant",
    reasoning_content: "r",
    reasoning_details: [],
    thinking_blocks: [1],
    extra_content,
    index: 0,
    refusal: null,
    reasoning: "",
  };
  expect(replayMembers(part)).toEqual({
    reasoning_content: "r",
    reasoning_details: [],
    thinking_blocks: [1],
    extra_content,
  });
});

test.each<[string, unknown[], unknown]>([
  ["texts", ["I ", "think."], "I think."],
  ["a list by index", [[{ index: 0, type: "t", text: "I " }], [{ index: 0, type: "t", text: "think." }], [{ index: 1, type: "t", text: "Then." }]], [{ index: 0, type: "t", text: "I think." }, { index: 1, type: "t", text: "Then." }]],
  ["a signature behind a text", [[{ type: "t", text: "I " }], [{ type: "t", text: "think." }], [{ type: "t", signature: "s" }]], [{ type: "t", text: "I think.", signature: "s" }]],
  ["a thought after a signed one", [[{ type: "t", text: "a", signature: "s" }], [{ type: "t", text: "b" }]], [{ type: "t", text: "a", signature: "s" }, { type: "t", text: "b" }]],
  ["objects", [{ google: { a: 1 } }, { google: { b: 2 } }], { google: { a: 1, b: 2 } }],
])("L1: pieces of a member are joined: %s", (_, pieces, whole) => {
  expect(pieces.reduce(joined, undefined)).toEqual(whole);
}); // biome-ignore format: a table

/** A reply as it is streamed, stored, and sent back. */
function sentAgain(deltas: readonly object[], { from = SOURCE, to = SOURCE } = {}) {
  const builder = new ReplyBuilder(new Set(["bump"]));
  for (const delta of deltas) builder.add({ choices: [{ index: 0, delta }] });
  const reply = { ...builder.build("m"), from };
  const calls = toCalls(reply.calls, new Set());
  const replay = replayOf(reply, calls);
  const message: ChatMessage = {
    role: "assistant",
    content: reply.text || null,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ modelCallId }) => ({
        id: modelCallId,
        type: "function" as const,
        function: { name: "bump", arguments: "{}" },
      })),
    }),
    ...(replay && { replay }),
  };
  const results = calls.map(
    ({ modelCallId }): ChatMessage => ({ role: "tool", tool_call_id: modelCallId, content: "ok" }),
  );
  return withReplays([message, ...results], to);
}

const CALL = {
  tool_calls: [
    { index: 0, id: "functions.bump:0", type: "function", function: { name: "bump", arguments: "{}" } },
  ],
};

describe("L1: a reply goes back as it came:", () => {
  test("DeepSeek's and Kimi's thoughts, whole", () => {
    const [message] = sentAgain([{ reasoning_content: "I should " }, { reasoning_content: "call." }, CALL]);
    expect(message).toMatchObject({ reasoning_content: "I should call.", content: null });
  });

  test("Gemini's signature, at its call", () => {
    const signed = {
      tool_calls: [{ ...CALL.tool_calls[0], extra_content: { google: { thought_signature: "sig" } } }],
    };
    expect(sentAgain([signed])[0]).toMatchObject({
      tool_calls: [{ extra_content: { google: { thought_signature: "sig" } } }],
    });
  });

  test("Kimi's own id, in call and result", () => {
    const [message, result] = sentAgain([CALL]);
    expect(message).toMatchObject({ tool_calls: [{ id: "functions.bump:0" }] });
    expect(result).toMatchObject({ tool_call_id: "functions.bump:0" });
  });

  test("MiniMax's thought in the text", () => {
    expect(sentAgain([{ content: "<think>secret</think>\nHi." }])[0]).toMatchObject({
      content: "<think>secret</think>\nHi.",
    });
    expect(sentAgain([{ content: "<think>secret</think>\nHi." }], { to: "other" })[0]).toEqual({
      role: "assistant",
      content: "Hi.",
    });
  });

  test("Mistral's list of parts", () => {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "hm" }] };
    expect(sentAgain([{ content: [thinking] }, { content: "Hi." }])[0]).toMatchObject({
      content: [thinking, { type: "text", text: "Hi." }],
    });
  });
});

test("L1: property: a replay goes to the address and model that gave it, and to no other", () => {
  const name = fc.constantFrom("a", "b", "c");
  fc.assert(
    fc.property(name, name, (from, to) => {
      const sent = JSON.stringify(sentAgain([{ reasoning_content: "secret" }, CALL], { from, to }));
      expect(sent.includes("secret")).toBe(from === to);
      expect(sent.includes("functions.bump:0")).toBe(from === to);
      expect(sent).not.toContain("replay");
    }),
  );
});

test("L1: a replay that is too long for a row is dropped, and the reply stays", () => {
  const [message] = sentAgain([{ reasoning_content: "x".repeat(REPLAY_MAX_CHARS) }, { content: "Hi." }]);
  expect(message).toEqual({ role: "assistant", content: "Hi." });
});

test("L9: an id that an endpoint gave to two calls goes back for none of them", () => {
  const first: ChatMessage = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "0", type: "function", function: { name: "bump", arguments: "{}" } }],
  };
  const second: ChatMessage = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "call_x", type: "function", function: { name: "bump", arguments: "{}" } }],
    replay: { from: SOURCE, calls: { call_x: { id: "0" } } },
  };
  const ids = withReplays([first, second], SOURCE).flatMap((it) =>
    it.role === "assistant" ? it.tool_calls?.map(({ id }) => id) : [],
  );
  expect(ids).toEqual(["0", "call_x"]);
});
