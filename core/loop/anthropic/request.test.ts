import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Call, Entry, Outcome, Replay } from "../history.ts";
import { type ChatMessage, toMessages } from "../messages.ts";
import { sourceOf } from "../replay.ts";
import type { ModelRequest, ModelSettings } from "../request.ts";
import { messagesBody } from "./request.ts";

const SETTINGS: ModelSettings = { baseUrl: "https://api.anthropic.com/v1", model: "claude", maxTokens: 100 };
const FROM = sourceOf(SETTINGS);
const TOOL = {
  type: "function" as const,
  function: { name: "read", description: "reads", parameters: { type: "object", properties: {} } },
};
const MARK = { cache_control: { type: "ephemeral" } };

const done = (text: string, status: Outcome["status"] = "success"): Outcome => ({
  status,
  text,
  elapsedMs: 1,
});
const call = (modelCallId: string, outcome?: Outcome): Call => ({
  id: modelCallId,
  modelCallId,
  name: "read",
  args: { path: modelCallId },
  ...(outcome && { outcome }),
});

/** The body, compared with the SDK's types by the compiler. */
function bodyOf(messages: ChatMessage[], more: Partial<ModelRequest> = {}): MessageCreateParamsStreaming {
  const body = messagesBody(SETTINGS, { messages, tools: [TOOL], ...more });
  return { ...body, stream: true } satisfies MessageCreateParamsStreaming;
}

test("a turn with two calls: system, tools, results in one message right after them", () => {
  const entries: Entry[] = [
    { role: "user", text: "Check" },
    { role: "assistant", text: "Looking.", calls: [call("a", done("1")), call("b", done("no", "error"))] },
  ];
  const system = { stable: "Be brief.", changing: "It is 12:00." };
  expect(bodyOf(toMessages(system, entries, "Sum up."))).toEqual({
    model: "claude",
    max_tokens: 100,
    stream: true,
    tools: [{ name: "read", description: "reads", input_schema: TOOL.function.parameters, ...MARK }],
    system: [{ type: "text", text: "Be brief.", ...MARK }],
    messages: [
      { role: "user", content: [{ type: "text", text: "Check", ...MARK }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Looking." },
          { type: "tool_use", id: "a", name: "read", input: { path: "a" } },
          { type: "tool_use", id: "b", name: "read", input: { path: "b" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "1" },
          { type: "tool_result", tool_use_id: "b", content: "no", is_error: true, ...MARK },
          { type: "text", text: "[edgecall] It is 12:00.\n\nSum up." },
        ],
      },
    ],
  });
});

test("pictures: a data URL, an https address, and what the model cannot see", () => {
  const images = ["data:image/png;base64,AAAA", "https://x.test/a.png", "data:image/svg+xml;base64,BBBB"];
  const { messages } = bodyOf(toMessages("", [{ role: "user", text: "", images }]), { tools: [] });
  expect(messages).toEqual([
    {
      role: "user",
      content: [
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        { type: "image", source: { type: "url", url: "https://x.test/a.png" } },
        { type: "text", text: "[a picture (image/svg+xml) that this model cannot see]" },
      ],
    },
  ]);
});

test("a history that begins with a reply, has empty texts, and ids that the API does not take", () => {
  const messages: ChatMessage[] = [
    { role: "assistant", content: "Hello." },
    { role: "user", content: " " },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "functions.read:0", type: "function", function: { name: "read", arguments: "{" } }],
    },
    { role: "tool", tool_call_id: "functions.read:0", content: "" },
    { role: "assistant", content: "" },
    { role: "tool", tool_call_id: "gone", content: "late" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "functions.read:0", type: "function", function: { name: "read", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "functions.read:0", content: "2" },
    { role: "assistant", content: "Done." },
  ];
  expect(bodyOf(messages).messages).toEqual([
    { role: "user", content: [{ type: "text", text: "[edgecall] The conversation begins here." }] },
    { role: "assistant", content: [{ type: "text", text: "Hello." }] },
    { role: "user", content: [{ type: "text", text: "(empty)" }] },
    { role: "assistant", content: [{ type: "tool_use", id: "functions_read_0", name: "read", input: {} }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "functions_read_0", content: "(no output)" }],
    },
    { role: "assistant", content: [{ type: "text", text: "(empty)" }] },
    { role: "user", content: [{ type: "text", text: "late", ...MARK }] },
    { role: "assistant", content: [{ type: "tool_use", id: "functions_read_0_", name: "read", input: {} }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "functions_read_0_", content: "2", ...MARK }],
    },
    { role: "assistant", content: [{ type: "text", text: "Done." }] },
    { role: "user", content: [{ type: "text", text: "[edgecall] Go on." }] },
  ]);
});

test.each<[string, Partial<ModelRequest>, unknown]>([
  ["nothing", {}, undefined],
  ["any tool", { toolChoice: "required" }, { type: "any" }],
  [
    "one tool",
    { toolChoice: { type: "function", function: { name: "read" } } },
    { type: "tool", name: "read" },
  ],
  ["no tool", { toolChoice: "none" }, { type: "none" }],
  ["no tools at all", { tools: [], toolChoice: "required" }, undefined],
])("tool choice: %s", (_name, more, wanted) => {
  expect(bodyOf([{ role: "user", content: "x" }], more).tool_choice).toEqual(wanted);
});

test("a history with calls and no tools to offer names the called ones, and none may be called", () => {
  const entries: Entry[] = [
    { role: "user", text: "Check" },
    { role: "assistant", text: "", calls: [call("a", done("1")), call("b", done("2"))] },
  ];
  expect(bodyOf(toMessages("S", entries), { tools: [] })).toMatchObject({
    tools: [{ name: "read", input_schema: { type: "object" }, ...MARK }],
    tool_choice: { type: "none" },
  });
});

test("a question without tools and system, as for a summary, is not stored in the cache", () => {
  const body = bodyOf([{ role: "user", content: "Sum up" }], { tools: [], maxTokens: 7 });
  expect(JSON.stringify(body)).not.toContain("cache_control");
  expect(body).toMatchObject({ max_tokens: 7 });
  expect(body).not.toHaveProperty("temperature");
  expect(messagesBody({ ...SETTINGS, temperature: 0.2 }, { messages: [], tools: [] })).toMatchObject({
    temperature: 0.2,
  });
});

const THOUGHT = { type: "thinking", thinking: "hm", signature: "s1" };
const SECRET = { type: "redacted_thinking", data: "x" };

test("thoughts go back where they were, and only to the model that had them", () => {
  const content = [
    THOUGHT,
    { type: "text", length: 5 },
    SECRET,
    { type: "text", length: 3 },
    { type: "tool_use" },
  ];
  const replied = (replay: Replay, text = "FirstNow"): ChatMessage[] => [
    { role: "user", content: "Go" },
    {
      role: "assistant",
      content: text,
      tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: "{}" } }],
      replay,
    },
    { role: "tool", tool_call_id: "a", content: "1" },
  ];
  const use = { type: "tool_use", id: "a", name: "read", input: {} };
  const shown = (text: string) => ({ type: "text", text });
  const contentOf = (messages: ChatMessage[]) => bodyOf(messages).messages[1]?.content;
  expect(contentOf(replied({ from: FROM, content }))).toEqual([
    THOUGHT,
    shown("First"),
    SECRET,
    shown("Now"),
    use,
  ]);
  // The shown text was changed, so its parts are unknown.
  expect(contentOf(replied({ from: FROM, content }, "First"))).toEqual([
    THOUGHT,
    SECRET,
    shown("First"),
    use,
  ]);
  expect(contentOf(replied({ from: "elsewhere", content }))).toEqual([shown("FirstNow"), use]);
});

/** What the API stores under a mark: tools, system and messages up to the last block with one, without the marks themselves. */
function cachedPrefix(body: MessageCreateParamsStreaming): string {
  const text = JSON.stringify([body.tools, body.system, body.messages]);
  const mark = ',"cache_control":{"type":"ephemeral"}';
  return text.slice(0, text.lastIndexOf(mark)).replaceAll(mark, "");
}

test("property: in any conversation each request's prefix begins with the one before, with at most four marks", () => {
  const text = fc.string({ minLength: 1, maxLength: 8 });
  const reply = fc.record({
    text,
    results: fc.array(text, { minLength: 1, maxLength: 30 }),
    note: fc.option(text),
  });
  const turn = fc.record({ question: text, replies: fc.array(reply, { maxLength: 3 }), answer: text });
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), (turns) => {
      const entries: Entry[] = [];
      let before = "";
      let n = 0;
      const ask = () => {
        n += 1;
        const body = bodyOf(
          toMessages({ stable: "S", changing: `It is ${n}.` }, entries, n % 3 ? undefined : "note"),
        );
        const now = cachedPrefix(body);
        expect(now.startsWith(before)).toBe(true);
        expect(now).not.toContain(`It is ${n}.`);
        expect(JSON.stringify(body).split('"cache_control"').length - 1).toBeLessThanOrEqual(4);
        before = now;
      };
      for (const { question, replies, answer } of turns) {
        entries.push({ role: "user", text: question });
        ask();
        for (const { text, results, note } of replies) {
          const calls = results.map((result, at) => call(`c${n}_${at}`, done(result)));
          entries.push({ role: "assistant", text, calls });
          if (note !== null) entries.push({ role: "note", text: note });
          ask();
        }
        entries.push({ role: "assistant", text: answer, calls: [] });
      }
    }),
    { numRuns: 50 },
  );
});
