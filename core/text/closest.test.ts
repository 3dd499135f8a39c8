import fc from "fast-check";
import { expect, test } from "vitest";
import { closest } from "./closest.ts";

const COMMANDS = ["stop", "status", "agents", "new", "help", "answer", "approve"];

test.each<[string, string | undefined]>([
  ["stauts", "status"],
  ["statu", "status"],
  ["STATUSS", "status"],
  ["agent", "agents"],
  ["aprove", "approve"],
  ["hlep", "help"],
  ["stpo", "stop"],
  ["nwe", "new"],
  ["etc", undefined],
  ["weather", undefined],
  ["x", undefined],
])("%s → %s", (word, expected) => {
  expect(closest(word, COMMANDS)).toBe(expected);
});

test("property: a word of the list is its own nearest word", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 20 }),
      (words) => {
        for (const word of words) expect(closest(word, words)).toBe(word);
      },
    ),
  );
});

test("property: no word takes long, whatever its length", () => {
  fc.assert(fc.property(fc.string({ maxLength: 10_000 }), (word) => void closest(word, COMMANDS)));
});
