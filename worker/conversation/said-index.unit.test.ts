import { expect, test } from "vitest";
import { saysSame } from "./said-index.ts";

const isKnown = (text: string) => saysSame("It is 7 %.", [], text);

test("G7 an answer is known with the names of its pictures below it", () => {
  for (const text of ["It is 7 %.", "It is 7 %.\n\n[a.png]\n[b.png] [c d]", " It is\n7 %. [a[b]"])
    expect(isKnown(text)).toBe(true);
  for (const text of ["It is 8 %.", "It is 7 %. [a]b"]) expect(isKnown(text)).toBe(false);
});

test.each([" ", "[", "]", "[]", "[ ", "\n", "a "])(
  "G7 100,000 times %j in a client's history takes no time",
  (part) => {
    const before = performance.now();
    for (const end of ["", "x", "]"]) isKnown(part.repeat(100_000) + end);
    expect(performance.now() - before).toBeLessThan(1_000);
  },
);
