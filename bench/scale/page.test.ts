import { expect, test } from "vitest";
import { pageOf, readPage, readRecorded } from "./page.ts";

test("docs/measured/scale.md shows the recorded run (node bench/scale/main.ts)", () => {
  expect(readPage()).toBe(pageOf(readRecorded()));
});
