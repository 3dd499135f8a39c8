import fc from "fast-check";
import type { ChatCompletionMessageParam as Message } from "openai/resources/chat/completions";
import { expect, test } from "vitest";
import type { Habit } from "./habits.ts";
import { inForm, NOT_SEEN } from "./message-forms.ts";

const form = (messages: readonly Message[], ...habits: Habit[]) => inForm(messages, new Set(habits));
const call = (id: string, name = "bump") => ({
  id,
  type: "function" as const,
  function: { name, arguments: "{}" },
});
const asks = (...ids: string[]): Message => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => call(id)),
});
const result = (id: string): Message => ({ role: "tool", tool_call_id: id, content: `result of ${id}` });
const user = (content: string): Message => ({ role: "user", content });
const picture: Message = {
  role: "user",
  content: [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
  ],
};
const HISTORY: Message[] = [
  { role: "system", content: "Be brief." },
  picture,
  asks("call_long_one", "call_long_two"),
  result("call_long_one"),
  result("call_long_two"),
  user("[edgecall] a note"),
  user("And now?"),
  { role: "assistant", content: "Well." },
];

test("no habit, no change", () => {
  expect(form(HISTORY)).toEqual(HISTORY);
});

test("L3: pictures become words in their place, and the text stays", () => {
  const [, shown] = form(HISTORY, "no_pictures");
  expect(shown).toEqual({ role: "user", content: `What is this?\n${NOT_SEEN}` });
});

test("L9: ids of nine letters and digits, the same ones in calls and results, different ones for different calls", () => {
  const all = form(HISTORY, "ids_of_nine");
  const ids = all.flatMap((it) => (it.role === "assistant" ? (it.tool_calls ?? []).map(({ id }) => id) : []));
  expect(ids).toEqual([expect.stringMatching(/^[A-Za-z0-9]{9}$/), expect.stringMatching(/^[A-Za-z0-9]{9}$/)]);
  expect(new Set(ids).size).toBe(2);
  expect(all.flatMap((it) => (it.role === "tool" ? it.tool_call_id : []))).toEqual(ids);
  expect(form([asks("abcdefgh1")], "ids_of_nine")).toEqual([asks("abcdefgh1")]);
});

test("L9: no content of null, names in results, an answer between results and a person", () => {
  expect(form(HISTORY, "no_null_content")[2]).toMatchObject({ content: "" });
  expect(form(HISTORY, "named_results")[3]).toMatchObject({ role: "tool", name: "bump" });
  const roles = form(HISTORY, "answer_after_results").map(({ role }) => role);
  expect(roles.slice(4, 7)).toEqual(["tool", "assistant", "user"]);
});

test("L9: calls one by one, each with its result", () => {
  const roles = form(HISTORY, "one_call_a_message").map((it) =>
    it.role === "assistant" ? `${it.tool_calls?.length ?? 0} calls` : it.role,
  );
  expect(roles.slice(2, 6)).toEqual(["1 calls", "tool", "1 calls", "tool"]);
});

test("L9: the system text before the first question", () => {
  const [first, ...rest] = form(HISTORY, "no_system");
  expect(JSON.stringify(first)).toMatch(/"role":"user".*Be brief.*What is this\?/);
  expect(rest.some(({ role }) => role === "system")).toBe(false);
  expect(form([user("hi")], "no_system")).toEqual([user("hi")]);
});

test("L1: where an endpoint insists, a signature and a thought of our own, which replace none of its own", () => {
  const signed = { ...call("a"), extra_content: { google: { thought_signature: "own" } } };
  const [own] = form(
    [{ role: "assistant", content: null, tool_calls: [signed] } as Message],
    "dummy_signatures",
  );
  expect(JSON.stringify(own)).toContain('"own"');
  expect(
    JSON.stringify(form([asks("a", "b")], "dummy_signatures")).match(/skip_thought_signature_validator/g),
  ).toHaveLength(1);
  expect(form([asks("a")], "empty_reasoning")).toMatchObject([{ reasoning_content: "" }]);
  expect(
    form([{ ...asks("a"), reasoning_content: "own" } as unknown as Message], "empty_reasoning"),
  ).toMatchObject([{ reasoning_content: "own" }]);
});

const HABITS: Habit[] = [
  "no_pictures", "no_null_content", "named_results", "ids_of_nine", "answer_after_results", "one_call_a_message",
  "alternating_roles", "no_system", "dummy_signatures", "empty_reasoning",
]; // biome-ignore format: a list

/** A valid history: each word of it stands once. */
const history = fc
  .array(fc.constantFrom("user", "user", "note", "answer", "calls"), { maxLength: 12 })
  .map((kinds): Message[] => {
    let n = 0;
    const word = () => `word${n++}.`;
    const all: Message[] = [{ role: "system", content: word() }, user(word())];
    for (const kind of kinds) {
      if (kind === "calls") {
        const ids = [`call_${word()}`, `call_${word()}`];
        all.push(
          { ...(asks(...ids) as object), content: word() } as Message,
          ...ids.map((id) => ({ ...result(id), content: word() }) as Message),
        );
      } else all.push(kind === "answer" ? { role: "assistant", content: word() } : user(word()));
    }
    return all;
  });
const habits = fc.subarray(HABITS).map((some) => new Set(some));
const wordsOf = (messages: readonly Message[]) =>
  messages.flatMap(({ content }) => JSON.stringify(content ?? "").match(/word\d+\./g) ?? []);

test("L9: property: in no form a message's text is lost, doubled or moved before another's", () => {
  fc.assert(
    fc.property(history, habits, (messages, some) => {
      expect(wordsOf(inForm(messages, some))).toEqual(wordsOf(messages));
    }),
  );
});

test("L9: property: in any form each call has its result directly behind its message, under the same id", () => {
  fc.assert(
    fc.property(history, habits, (messages, some) => {
      const all = inForm(messages, some);
      for (const [at, message] of all.entries()) {
        if (message.role !== "assistant" || !message.tool_calls) continue;
        const answers = all.slice(at + 1, at + 1 + message.tool_calls.length);
        expect(answers.map((it) => (it.role === "tool" ? it.tool_call_id : it.role))).toEqual(
          message.tool_calls.map(({ id }) => id),
        );
      }
    }),
  );
});

test("L9: property: alternating really alternates", () => {
  fc.assert(
    fc.property(history, habits, (messages, some) => {
      const roles = inForm(messages, new Set([...some, "alternating_roles"]))
        .filter(({ role }) => role !== "system")
        .map(({ role }) => role);
      for (const [at, role] of roles.entries()) if (role === "user") expect(roles[at - 1]).not.toBe("user");
    }),
  );
});
