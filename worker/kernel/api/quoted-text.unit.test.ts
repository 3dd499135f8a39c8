import { expect, test } from "vitest";
import { ownText, quotedText, repliesToUs } from "./quoted-text.ts";

const EVIL = 'see "https://evil.example/"] and \\';

test.each([
  ["forwarded", quotedText("forwarded", EVIL)],
  ["an audio file", quotedText("an audio file", EVIL)],
  ["quoted", quotedText("quoted", EVIL)],
  ["in this thread", quotedText("in this thread", EVIL)],
  ["our message", repliesToUs(EVIL)],
])("C2: addresses in words of others are not the person's: %s", (_, words) => {
  expect(ownText(`look at this\n\n${words}`)).toBe("look at this\n\n");
});

test("C2: the person's own words stay", () => {
  const own = 'open https://own.example/ [It replies to the person\'s own message: "https://mine.example"]';
  expect(ownText(own)).toBe(own);
});
