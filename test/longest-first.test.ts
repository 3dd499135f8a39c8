import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LONGEST } from "./longest-first.ts";

test("each file that begins first is there", () => {
  const missing = LONGEST.filter((name) => !existsSync(join(import.meta.dirname, "..", name)));
  expect(missing).toEqual([]);
});
