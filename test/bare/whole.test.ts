/**
 * `npm test` on a machine with Node and npm alone. The plain user runs it without the tests that run inside workerd, which know
 * nothing of the machine; root those of the programs that run as root.
 */
import { afterAll, beforeAll, describe, test } from "vitest";
import { BareDebian } from "./bare-debian.ts";
import { BARE, isGreen, RUN_WITHIN_MS } from "./runs.ts";

describe("C3 with Node and npm alone", BARE, () => {
  let debian: BareDebian;
  beforeAll(async () => {
    debian = await BareDebian.make();
    await debian.runs("bare", "npm install");
  }, RUN_WITHIN_MS);
  afterAll(() => debian?.remove(), RUN_WITHIN_MS);

  test.each([
    ["bare", "npm test -- '--project=!worker'"],
    ["root", "npx vitest run --project=unit pi-agent bridge node local cli"],
  ] as const)("%s: %s is green, and names once what was left out", async (user, line) => {
    await isGreen(debian, user, line);
  });
});
