/**
 * The README's promise, on a machine with Node and npm alone: both commands work, as a plain user and as root. The user runs
 * `npm test` without the tests that run inside workerd, which know nothing of the machine; root the tests of the programs that
 * run as root.
 */
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BareDebian, type Ran } from "./bare-debian.ts";

const RUN_WITHIN_MS = 1_500_000;

describe("C3 with Node and npm alone", {
  tags: ["needs/linux", "needs/root", "needs/debootstrap", "needs/util-linux", "needs/git"],
  timeout: RUN_WITHIN_MS,
}, () => {
  let debian: BareDebian;
  let installed: Ran;
  beforeAll(async () => {
    debian = await BareDebian.make();
    installed = await debian.runs("bare", "npm install");
  }, RUN_WITHIN_MS);
  afterAll(() => debian?.remove(), 60_000);

  test("npm install warns of nothing", () => {
    expect(installed.code, installed.err).toBe(0);
    expect(installed.err).not.toMatch(/EBADENGINE|npm warn/i);
  });

  test("a question is answered, by a plain user and by root", async () => {
    for (const user of ["bare", "root"] as const) {
      const asked = await debian.runs(user, 'npm start --silent -- --ask "How full is the root disk?"');
      expect(asked, asked.err).toMatchObject({ code: 0, out: expect.stringMatching(/^\S.*\d+%/) });
    }
  });

  test.each([
    ["bare", "npm test -- '--project=!worker'"],
    ["root", "npx vitest run --project=unit pi-agent bridge node local cli"],
  ] as const)("%s: %s is green, and names once what was left out", async (user, line) => {
    const ran = await debian.runs(user, line);
    const out = stripVTControlCharacters(ran.out);
    process.stdout.write(`${user}: ${line}: ${/^ *Duration +\S+/m.exec(out)?.[0].trim()}\n`);
    expect(ran.code, whatFailed(out + stripVTControlCharacters(ran.err))).toBe(0);
    const [, skipped] = /^ *Tests .* (\d+) skipped/m.exec(out) ?? [];
    const [, leftOut, names = ""] = /^(\d+) tests were left out: they need (.*)\. `/m.exec(out) ?? [];
    expect(leftOut).toBe(skipped);
    for (const name of ["bubblewrap", "git", "openssh-server", "ripgrep"]) expect(names).toContain(name);
  });
});

/** Vitest's own account of the tests that failed; else the last that was said. */
function whatFailed(out: string): string {
  const from = out.search(/^.*Failed (?:Tests|Suites)/m);
  return from === -1 ? out.slice(-20_000) : out.slice(from);
}
