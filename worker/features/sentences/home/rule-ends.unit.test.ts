/** Which rules a sentence ends, and when a person is asked back. */
import { de } from "@edgecall/core/phrases/languages/de.ts";
import { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { readSentence } from "@edgecall/core/sentences/read.ts";
import { describe, expect, test } from "vitest";
import { contextOf, lexicon, phrases, table } from "../../../../test/home-of-configs.ts";
import type { SpokenRule } from "../../../kernel/api/roster.ts";
import { resolveMeanings } from "./resolve.ts";
import { answeredEnds } from "./rule-ends.ts";

describe("rules are ended by what they are about", () => {
  const watch = (id: string, agent: string, isPaused = false): SpokenRule => ({
    id,
    name: `tell me of ${id}`,
    of: "watch",
    isPaused,
    agent,
  });
  const reminder = (id: string): SpokenRule => ({ id, name: `the ${id}`, of: "reminder", isPaused: false });
  const rules = [watch("w-1", "freezer"), watch("w-2", "blinds", true), reminder("r-1"), reminder("r-2")];

  async function ended(sentence: string, of: SpokenRule[] = rules): Promise<unknown> {
    const understood = readSentence(sentence, table, [lexicon]);
    if (understood.result !== "one") throw new Error(`${sentence}: ${JSON.stringify(understood)}`);
    const resolved = await resolveMeanings([understood], contextOf(sentence, [], of));
    if ("problem" in resolved) return resolved.problem.text;
    return "answer" in resolved
      ? resolved.answer
      : "steps" in resolved && resolved.steps.flat().map(({ args }) => args);
  }

  test.each([
    ["What reminders do I have?", [{ do: "list", of: "reminder" }]],
    ["What rules do I have?", [{ do: "list" }]],
    ["stop watching the freezer", [{ do: "cancel", id: "w-1" }]],
    ["stop watching the front door", "There is no such rule."],
    ["cancel all reminders", "Cancel 2 rules? the r-1, the r-2"],
    ["cancel all rules", "Cancel 4 rules? tell me of w-1, tell me of w-2, the r-1, the r-2"],
    ["pause all watches", [{ do: "pause", id: "w-1" }]],
    ["resume all watches", [{ do: "resume", id: "w-2" }]],
  ])("%s", async (sentence, result) => {
    expect(await ended(sentence)).toEqual(result);
  });

  test("where there is none, nothing is asked", async () => {
    expect(await ended("cancel all rules", [])).toBe("Nothing is watched, and there is no reminder.");
  });

  test("yes ends all that were named, a name that one, no none, and another sentence is no answer", () => {
    const back = {
      do: "cancel" as const,
      of: [
        { id: "r-1", name: "the r-1" },
        { id: "r-2", name: "the r-2" },
      ],
    };
    const answered = (text: string, more: object = {}) =>
      answeredEnds({ ...back, ...more }, text, contextOf(text, [], rules), [new Phrases(de), phrases]);
    const both = ["r-1", "r-2"].map((id) => ({ name: "rules", args: { do: "cancel", id } }));
    for (const yes of ["Yes!", "ok", "ja", "Ja bitte", "all of them"])
      expect(answered(yes), yes).toEqual({ calls: both });
    expect(answered("The R-1")).toEqual({ calls: both.slice(0, 1) });
    expect(answered("no")).toEqual({ answer: "Nothing was done." });
    expect(answered("turn on the kitchen light")).toBeUndefined();
    // "Which one?" is answered by no yes.
    expect(answered("yes", { isOne: true })).toBeUndefined();
    expect(answered("yes", { of: [{ id: "gone", name: "gone" }] })).toEqual({
      answer: "This rule is not there any more.",
    });
  });
});
