import { expect, test } from "vitest";
import { filledIn, readPage, readRecorded } from "./page.ts";

test("docs/explain/scale.md shows the recorded run (node bench/scale/main.ts)", () => {
  const page = readPage();
  expect(filledIn(page, readRecorded())).toBe(page);
});
