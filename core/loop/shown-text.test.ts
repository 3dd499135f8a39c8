import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ShownText, splitText } from "./shown-text.ts";

const HARMONY =
  "<|channel|>analysis<|message|>I think.<|end|><|start|>assistant<|channel|>final<|message|>All is well.";

const SPLIT: ReadonlyArray<readonly [string, string, string]> = [
  ["a thought", "<think>\nsecret\n</think>\n\nAll is well.", "All is well."],
  ["a thought after blanks", "\n <think>secret</think>All is well.", "All is well."],
  ["another tag", "<thinking>secret</thinking>\nAll is well.", "All is well."],
  ["another tag", "<reasoning>secret</reasoning>All is well.", "All is well."],
  ["another tag", "<thought>secret</thought>All is well.", "All is well."],
  ["Mistral's", "[THINK]secret[/THINK]All is well.", "All is well."],
  ["Kimi's", "◁think▷secret◁/think▷All is well.", "All is well."],
  ["Cohere's", "<|START_THINKING|>secret<|END_THINKING|>All is well.", "All is well."],
  ["Seed's", "<seed:think>secret</seed:think>All is well.", "All is well."],
  ["two thoughts", "<think>one</think>\n<think>two</think>All is well.", "All is well."],
  ["an empty thought", "<think>\n\n</think>\n\nAll is well.", "All is well."],
  ["a thought that was cut", "<think>\nI think and", ""],
  ["a thought without its beginning", "The person wants X.\n</think>\n\nAll is well.", "All is well."],
  ["a thought about the tag's end in code", "<think>I write `</think>` now.</think>All is well.", "All is well."],
  ["harmony", HARMONY, "All is well."],
  ["harmony without an analysis", "<|channel|>final<|message|>All is well.<|return|>", "All is well."],
  ["harmony that is cut in its analysis", "<|channel|>analysis<|message|>I think.", ""],
  ["harmony without its tokens", "analysisI think about it.assistantfinalAll is well.", "All is well."],
  ["ChatML's end", "All is well.<|im_end|>\n<|im_start|>assistant\nAll is well.", "All is well."],
  ["Llama's end", "All is well.<|eot_id|>", "All is well."],
  ["a sentence's end", "All is well.</s>", "All is well."],
  ["Gemma's end", "All is well.<end_of_turn>\n", "All is well."],
  ["DeepSeek's end", "All is well.<｜end▁of▁sentence｜>", "All is well."],
  ["Llama 4's end", "All is well.<|eot|>", "All is well."],
  ["Phi's end", "All is well.<|endofprompt|>", "All is well."],
  ["Cohere's end", "All is well.<|END_OF_TURN_TOKEN|>", "All is well."],
  ["Gemma 4's end", "All is well.<turn|>", "All is well."],
  ["a thought and an answer in tags", "<think>x</think>\n<answer>\nAll is well.\n</answer>", "All is well."],
  ["a thought and an end", "<think>x</think>All is well.<|im_end|>", "All is well."],
]; // biome-ignore format: a table

const WHOLE = [
  "All is well.",
  "The tag <think> begins a thought, and </think> ends it.",
  "<think> is the tag that Qwen writes before its answer.",
  "In ChatML `<|im_end|>` ends a message.",
  "```\n<|im_end|>\n```\nends a message.",
  "It was <s>20</s> 21 degrees.",
  "Put it between <answer> and </answer>.",
  "The list has <|1|> and <|weekend plans|>.",
  "analysis of the disk: it is full.",
  "a < b, and [1] is a list",
  'I thought: "well".',
  "",
];

describe("L6: thoughts and tokens of the model's format are no text:", () => {
  test.each(SPLIT)("%s", (_, raw, text) => {
    expect(splitText(raw).text).toBe(text);
  });

  test.each(WHOLE)("what only speaks of them stays: %j", (raw) => {
    expect(splitText(raw)).toEqual({ text: raw, thoughts: "" });
  });

  test("a text with thoughts goes back as it came, without what stands behind its end", () => {
    expect(splitText("<think>x</think>\nHi.<|im_end|>more").asCame).toBe("<think>x</think>\nHi.");
    expect(splitText("Hi.<|im_end|>")).not.toHaveProperty("asCame");
  });
});

const RAW = fc.oneof(
  fc.constantFrom(...SPLIT.map(([, raw]) => raw), ...WHOLE),
  fc
    .array(
      fc.constantFrom(
        "<think>",
        "</think>",
        "<",
        "<|",
        "im_end|>",
        "</s>",
        "`",
        "[",
        "]",
        "\n",
        " ",
        "analysis",
        "word ",
        "Hi. ",
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join("")),
);

test("L6: property: a text in any pieces comes to the same end, and nothing of a known thought is shown", () => {
  fc.assert(
    fc.property(RAW, fc.array(fc.nat(80), { maxLength: 8 }), (raw, cuts) => {
      const at = [...new Set([0, ...cuts.map((cut) => cut % (raw.length + 1)), raw.length])].sort(
        (a, b) => a - b,
      );
      const shown = new ShownText();
      let given = "";
      for (const [i, from] of at.slice(0, -1).entries()) given += shown.add(raw.slice(from, at[i + 1]));
      const { text, left, isOther } = shown.end();
      expect(text).toBe(splitText(raw).text);
      expect(isOther ? left : given + left).toBe(text);
      if (raw.startsWith("<think>\n")) expect(given).not.toContain("secret");
    }),
  );
});

test("what is clear is shown at once", () => {
  const shown = new ShownText();
  expect(["All ", "is ", "<b>well</b>."].map((piece) => shown.add(piece)).join("")).toBe(
    "All is <b>well</b>.",
  );
});
