/**
 * The README's promise, on a machine with Node and npm alone: `npm install` and `npm start` work, with the demo home too, as a plain
 * user and as root. `whole.test.ts` runs `npm test` there.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BareDebian, type Ran } from "./bare-debian.ts";
import { BARE, MAY_WAIT, RUN_WITHIN_MS } from "./runs.ts";

describe("C3 with Node and npm alone", BARE, () => {
  let debian: BareDebian;
  let installed: Ran;
  let installedMs: number;
  beforeAll(async () => {
    debian = await BareDebian.make();
    const began = performance.now();
    installed = await debian.runs("bare", "npm install");
    installedMs = performance.now() - began;
  }, RUN_WITHIN_MS);
  afterAll(() => debian?.remove(), RUN_WITHIN_MS);

  test("npm install warns of nothing", () => {
    expect(installed.code, installed.err).toBe(0);
    expect(installed.err).not.toMatch(/EBADENGINE|npm warn/i);
  });

  test("the demo home answers its first question, and it is told how long that took", async () => {
    const began = performance.now();
    const asked = await debian.runs("bare", 'npm start --silent -- --demo --ask "Which windows are open?"');
    const seconds = [installedMs, performance.now() - began].map((ms) => (ms / 1_000).toFixed(1));
    process.stdout.write(`npm install: ${seconds[0]} s, then the demo's first answer: ${seconds[1]} s\n`);
    expect(asked).toEqual({ code: 0, out: "Bedroom window: open.\n", err: expect.stringMatching(MAY_WAIT) });
  });

  test("a question is answered, by a plain user and by root", async () => {
    for (const user of ["bare", "root"] as const) {
      const asked = await debian.runs(user, 'npm start --silent -- --ask "How full is the root disk?"');
      expect(asked, asked.err).toMatchObject({ code: 0, out: expect.stringMatching(/^\S.*\d+ %/) });
    }
  });
});
