import fc from "fast-check";
import { expect, test } from "vitest";
import type { Call, Entry, Outcome } from "./history.ts";
import { type ChatMessage, plainMessages, toMessages } from "./messages.ts";
import { toCalls } from "./reply.ts";

const call = (more: Partial<Call> = {}): Call => ({
  id: "id",
  modelCallId: "m",
  name: "read",
  args: { path: "x" },
  ...more,
});
const done = (text: string): Outcome => ({ status: "success", text, elapsedMs: 1 });

test("a turn with a call, in the form that endpoints accept", () => {
  const entries: Entry[] = [
    { role: "user", text: "Check the CPU" },
    { role: "assistant", text: "Looking.", calls: [call({ outcome: done("45.6 °C") })] },
    { role: "assistant", text: "It is 45.6 °C.", calls: [] },
  ];
  expect(plainMessages(toMessages("Be brief.", entries, "Sum up."))).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Check the CPU" },
    {
      role: "assistant",
      content: "Looking.",
      tool_calls: [{ id: "m", type: "function", function: { name: "read", arguments: '{"path":"x"}' } }],
    },
    { role: "tool", tool_call_id: "m", content: "45.6 °C" },
    { role: "assistant", content: "It is 45.6 °C." },
    { role: "user", content: "Sum up." },
  ]);
});

test("no system prompt, no system message; no text beside calls, no empty text", () => {
  const messages = toMessages("", [{ role: "assistant", text: "", calls: [call()] }]);
  expect(messages[0]).toMatchObject({ role: "assistant", content: null });
});

test("a call without a result, and one with an empty result, say so", () => {
  const calls = [call(), call({ modelCallId: "n", outcome: done("") })];
  const messages = toMessages("", [{ role: "assistant", text: "", calls }]);
  expect(messages[1]?.content).toBe(
    "Error: No result: the turn ended before this call was answered. Whether it ran is unknown.",
  );
  expect(messages[2]?.content).toBe("(no output)");
});

test("images follow their text, and an empty text is left out", () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA" } };
  const entry = (text: string): Entry => ({ role: "user", text, images: ["data:image/png;base64,AA"] });
  expect(toMessages("", [entry("What is it?"), entry("")])).toEqual([
    { role: "user", content: [{ type: "text", text: "What is it?" }, image] },
    { role: "user", content: [image] },
  ]);
});

test("a note of the gateway becomes a user's message that names its sender, after the results", () => {
  const entries: Entry[] = [
    { role: "assistant", text: "", calls: [call({ outcome: done("ok") })] },
    { role: "note", text: "The result of the job: 7." },
  ];
  expect(toMessages("", entries).slice(1)).toEqual([
    { role: "tool", tool_call_id: "m", content: "ok" },
    { role: "user", content: "[edgecall] The result of the job: 7." },
  ]);
});

const outcome = fc.record({
  status: fc.constantFrom("success" as const, "error" as const),
  text: fc.string(),
  elapsedMs: fc.nat(),
});
/** Ids as models send them: repeated, missing, unusable. */
const requested = fc.record({
  id: fc.option(fc.constantFrom("a", "b", "c", "", "not usable!"), { nil: undefined }),
  name: fc.string({ minLength: 1 }),
  rawArguments: fc.oneof(fc.json(), fc.string()),
});
const reply = fc.record({
  text: fc.string(),
  calls: fc.array(fc.tuple(requested, fc.option(outcome, { nil: undefined })), { maxLength: 6 }),
});
const user = fc.record({ role: fc.constant("user" as const), text: fc.string() });

const note = fc.record({ role: fc.constant("note" as const), text: fc.string() });
const history = fc.array(fc.oneof(user, note, reply), { maxLength: 12 }).map((parts) => {
  const used = new Set<string>();
  return parts.map((part): Entry => {
    if ("role" in part) return part;
    const calls = toCalls(
      part.calls.map(([request]) => request),
      used,
    );
    for (const [index, made] of calls.entries()) {
      used.add(made.modelCallId);
      const result = part.calls[index]?.[1];
      if (result) made.outcome = result;
    }
    return { role: "assistant", text: part.text, calls };
  });
});

function callIdsOf(message: ChatMessage | undefined): string[] {
  return message?.role === "assistant" ? (message.tool_calls ?? []).map((made) => made.id) : [];
}

test("endpoints accept any history: each call is answered once, in order, directly after its message", () => {
  fc.assert(
    fc.property(history, (entries) => {
      const messages = toMessages("system", entries, "note");
      const ids = messages.flatMap(callIdsOf);
      expect(new Set(ids).size).toBe(ids.length);

      let expected: string[] = [];
      for (const message of messages) {
        if (message.role === "tool") {
          expect(message.tool_call_id).toBe(expected.shift());
          expect(message.content).not.toBe("");
          continue;
        }
        expect(expected).toEqual([]);
        expected = callIdsOf(message);
      }
      expect(expected).toEqual([]);
      expect(messages.length).toBe(2 + entries.length + ids.length);
    }),
  );
});

test("the model reads which agent was chosen for a call that named none", () => {
  const routed = { agent: "pi-2", why: "chosen of 3: online, has 'cpu', no open call" };
  const outcome = { ...done("1 %"), routed, advice: "Say so." };
  const [, { content } = {}] = toMessages("", [{ role: "assistant", text: "", calls: [call({ outcome })] }]);
  expect(content).toBe("[pi-2 was chosen of 3: online, has 'cpu', no open call]\n1 %\nSay so.");
});

test("what changes comes last in one system message, and members of our own are taken off", () => {
  const failed = call({ outcome: { ...done("no"), status: "error" } });
  const entries: Entry[] = [
    { role: "user", text: "Hi" },
    { role: "assistant", text: "", calls: [failed] },
  ];
  const messages = toMessages({ stable: "Be brief.", changing: "It is 12:00." }, entries, "Sum up.");
  expect(messages.filter(({ passing }) => passing).map(({ content }) => content)).toEqual([
    "It is 12:00.",
    "Sum up.",
  ]);
  expect(messages.find(({ role }) => role === "tool")).toMatchObject({ failed: true });
  const plain = plainMessages(messages);
  expect(plain[0]).toEqual({ role: "system", content: "Be brief.\n\nIt is 12:00." });
  expect(JSON.stringify(plain)).not.toMatch(/passing|failed/);
});
