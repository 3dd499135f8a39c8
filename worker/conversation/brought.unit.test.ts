import { expect, test } from "vitest";
import { saysSame } from "./brought.ts";
import type { Transcript } from "./transcript.ts";
import type { Turn } from "./transcript-rows.ts";

const turn = { n: 1, answer: "It is 7 %." } as Turn;
// SAFETY: all that `saysSame` asks of it.
const transcript = { entriesOf: () => [] as unknown[] } as unknown as Transcript;

test("G7 an answer is known with the names of its pictures below it", () => {
  for (const text of ["It is 7 %.", "It is 7 %.\n\n[a.png]\n[b.png] [c d]", " It is\n7 %. [a[b]"])
    expect(saysSame(transcript, turn, text)).toBe(true);
  for (const text of ["It is 8 %.", "It is 7 %. [a]b"]) expect(saysSame(transcript, turn, text)).toBe(false);
});

test.each([" ", "[", "]", "[]", "[ ", "\n", "a "])(
  "G7 100,000 times %j in a client's history takes no time",
  (part) => {
    const before = performance.now();
    for (const end of ["", "x", "]"]) saysSame(transcript, turn, part.repeat(100_000) + end);
    expect(performance.now() - before).toBeLessThan(1_000);
  },
);
