import { en } from "@edgecall/core/sentences/languages/en.ts";
import { makeLexicon } from "@edgecall/core/sentences/lexicon.ts";
import { NameTable } from "@edgecall/core/sentences/names.ts";
import { readSentence } from "@edgecall/core/sentences/read.ts";
import { expect, test } from "vitest";
import { examplesFor } from "./examples.ts";

const ACTIONS = ["temperature", "disk", "memory", "camera", "system_info"];
const agent = (id: string, actions: string[], foreign = false) => ({ id, actions, foreign });
const names = new NameTable([{ id: "garden", name: "garden", of: "device" }]);
const lexicons = [makeLexicon(en)];

test("without a model each example is a sentence that is understood", () => {
  const texts = [
    ...ACTIONS.flatMap((action) => examplesFor([agent("garden", [action])], false)),
    ...examplesFor([agent("garden", [], true)], false),
  ];
  expect(new Set(texts).size).toBe(ACTIONS.length + 2);
  for (const text of texts)
    expect(readSentence(text, names, lexicons), text).toMatchObject({ result: "one" });
});

test("each device has another question, and a model is asked what a foreign one can do", () => {
  expect(examplesFor([agent("a", ACTIONS), agent("b", ACTIONS)], true)).toEqual([
    "How warm is a?",
    "How full is the disk of b?",
    "How full is the disk of a?",
  ]);
  expect(examplesFor([agent("owl", [], true)], true)[0]).toBe("What can owl do?");
  expect(examplesFor([], true)).toEqual([]);
});
