import { NO_TOOL_CALLED, type Outcome } from "@edgecall/core/loop/history.ts";
import { ModelError } from "@edgecall/core/loop/retry.ts";
import { parseTooLong } from "@edgecall/core/loop/too-long.ts";
import { TooLongError } from "@edgecall/core/loop/too-long-error.ts";
import { de } from "@edgecall/core/phrases/languages/de.ts";
import { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { expect, test } from "vitest";
import { withResult } from "./store/row-cache.ts";
import type { StoredEntry } from "./store/rows.ts";
import { cancelledAnswer, lateNote, modelAdvice, tryAgain } from "./texts.ts";

function storedCall(outcome: Outcome) {
  const args = { agent_id: "pi", action: "cpu" };
  const open = { submittedAt: null, settledAt: null, settledSeq: null };
  const call = { id: "c", turn: 1, modelCallId: "m", name: "edge_call", args, ...open };
  return withResult(call, { seq: 3, turn: 1, kind: "result", body: { call: "c", outcome, at: 1 } });
}

const asked = (outcome: Outcome) =>
  [{ turn: 1, role: "assistant", text: "", calls: [storedCall(outcome)] }] as unknown as StoredEntry[];

const QUEUED = "Queued: agent 'pi' is not online. Nothing has run yet.";

test("C10 a failed turn's text for the person has no advice; the model's note has it", () => {
  const outcome: Outcome = {
    status: "success",
    text: QUEUED,
    advice: "Say so.",
    job: "job-12345",
    elapsedMs: 0,
    sources: [],
  };
  expect(tryAgain(asked(outcome))).toBe(`Before that I got: ${QUEUED}`);
  expect(lateNote(storedCall(outcome), outcome)).toContain(`Result:\n${QUEUED}\nSay so.`);
});

test("C10 a row of 0.2.0 has the advice in its text, and does not show it to people", () => {
  const text = `${QUEUED} Tell the user that.`;
  const old: Outcome = { status: "success", text, job: "job-12345", elapsedMs: 0 };
  expect(storedCall(old).outcome).toEqual({ ...old, text: QUEUED, advice: "Tell the user that." });
  expect(tryAgain(asked(old))).toBe(`Before that I got: ${QUEUED}`);
  // A result is the tool's own text, whatever it says.
  const result: Outcome = { status: "success", text: "Tell the user that.", elapsedMs: 0 };
  expect(storedCall(result).outcome).toEqual(result);
  const now: Outcome = { status: "error", text: "Error: 1.\nTell the user.", elapsedMs: 0, sources: [] };
  expect(storedCall(now).outcome).toEqual(now);
});

test("L15: a late answer for which the device's model called no tool says so", () => {
  const outcome = { status: "success", text: "Done!", elapsedMs: 1, asked: false } as const;
  expect(lateNote(storedCall(outcome), outcome)).toContain(`Result:\n[${NO_TOOL_CALLED}]\nDone!`);
});

test.each<[string, number, "Ollama" | "llama.cpp" | undefined, RegExp]>([
  [
    "prompt is too long: 208310 tokens > 200000 maximum",
    1_000,
    undefined,
    /^About 208,310 tokens were sent, and the model takes 200,000 tokens\. HISTORY_MAX_TOKENS bounds what is sent: set it to 100000 or less\./,
  ],
  [
    "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    4_000,
    "llama.cpp",
    /4,000 tokens of them are instructions and tools, .*llama-server's --ctx-size/,
  ],
  [
    "the input length exceeds the context length",
    1_000,
    "Ollama",
    /^About 5,000 tokens were sent\. .*OLLAMA_CONTEXT_LENGTH=16384/,
  ],
  [
    "max_tokens must be less than or equal to 2048",
    1_000,
    undefined,
    /^The model gives at most 2,048 .* set MAX_TOKENS to 2048 or less\.$/,
  ],
  ["max_tokens is too large", 1_000, undefined, /^Set MAX_TOKENS lower: it asks for 4,096 tokens\.$/],
])("L13: the advice after '%s' names the setting, with the numbers", (said, beside, server, expected) => {
  const words = parseTooLong(said) ?? expect.fail("not recognised");
  const error = new TooLongError(new ModelError("never", said), words, {
    sent: 5_000,
    maxReply: 4_096,
    beside,
    server,
  });
  const advice = modelAdvice(error, { baseUrl: "https://api.example.com/v1", model: "m" });
  expect(advice).toMatch(expected);
  expect(tryAgain([], advice)).not.toMatch(/begin a new|try again later/);
});

test("L13: a first question that is refused for another reason is not told to begin a new conversation", () => {
  const error = new ModelError("never", "tools: unknown field", { status: 400 });
  expect(modelAdvice(error, { baseUrl: "https://api.example.com/v1", model: "m" })).not.toContain("new one");
});

test("what a person reads of a turn that failed is in that person's language; what a model reads is English", () => {
  const german = new Phrases(de);
  const unknown: Outcome = { status: "error", errorType: "timeout", text: "?", elapsedMs: 0, sources: [] };
  expect(tryAgain([], undefined, german)).toBe("Ich habe nichts getan. Bitte versuch es später noch einmal.");
  expect(tryAgain(asked(unknown), undefined, german)).toBe(
    "Ob das ausgeführt wurde, ist unbekannt: 'cpu' bei 'pi'. Bitte sieh nach, bevor du noch einmal fragst.",
  );
  expect(tryAgain(asked(unknown))).toBe(
    "It is unknown whether this was done: action 'cpu' on 'pi'. Please check before you ask again.",
  );
  expect([0, 1, 2].map((sent) => cancelledAnswer(sent))).toEqual([
    "Cancelled.",
    "Cancelled. One call was with a device already; whether it ran is unknown.",
    "Cancelled. 2 calls were with a device already; whether it ran is unknown.",
  ]);
  expect(cancelledAnswer(1, german)).toMatch(/^Abgebrochen\. Ein Auftrag war schon beim Gerät;/);
});
