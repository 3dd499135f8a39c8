import { expect, test, vi } from "vitest";

test("what is made of the words is made once, and once more when they are given; others that come later are not taken", async () => {
  vi.resetModules();
  const { giveSearchWords, hasSearchWords, linesOf, ofSearchWords } = await import("./search-words.ts");
  let times = 0;
  const groups = ofSearchWords((words) => {
    times += 1;
    return linesOf(words.groups);
  });
  expect([groups(), groups(), times, hasSearchWords()]).toEqual([[], [], 1, false]);
  giveSearchWords({ classes: "", states: "", groups: "\nlamp light\n", stop: "" });
  giveSearchWords({ classes: "", states: "", groups: "other", stop: "" });
  expect([groups(), groups(), times, hasSearchWords()]).toEqual([["lamp light"], ["lamp light"], 2, true]);
});
