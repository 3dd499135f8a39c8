import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellQuote } from "./shell-quote.ts";

/** Returns the words that a shell reads from a line. */
function wordsOf(line: string): string[] {
  return execFileSync("sh", ["-c", `printf '%s\\0' ${line}`])
    .toString()
    .split("\0")
    .slice(0, -1);
}

test("property: a shell reads exactly the same words", () => {
  const word = fc.string({
    unit: fc.constantFrom("'", '"', "\\", "$", "`", "\n", " ", "(", ";", "é", "a", "!", "*", "~"),
  });
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      expect(wordsOf(shellQuote(words))).toEqual(words);
    }),
    { numRuns: 60 },
  );
});

test("an empty word is one; a NUL is refused", () => {
  expect(shellQuote(["", "a"])).toBe("'' 'a'");
  expect(() => shellQuote(["a\0b"])).toThrow(TypeError);
});
