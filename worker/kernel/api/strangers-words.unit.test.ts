import { expect, test } from "vitest";
import { ownWords, repliesToUs, strangersWords } from "./quoted-words.ts";

const EVIL = 'see "https://evil.example/"] and \\';

test.each([
  ["forwarded", strangersWords("forwarded", EVIL)],
  ["an audio file", strangersWords("an audio file", EVIL)],
  ["quoted", strangersWords("quoted", EVIL)],
  ["in this thread", strangersWords("in this thread", EVIL)],
  ["our message", repliesToUs(EVIL)],
])("C2: addresses in words of others are not the person's: %s", (_, words) => {
  expect(ownWords(`look at this\n\n${words}`)).toBe("look at this\n\n");
});

test("C2: the person's own words stay", () => {
  const own = 'open https://own.example/ [It replies to the person\'s own message: "https://mine.example"]';
  expect(ownWords(own)).toBe(own);
});
