/** What vitest says of a run on a bare machine. */
import { stripVTControlCharacters } from "node:util";
import { expect } from "vitest";
import type { BareDebian, BareUser } from "./bare-debian.ts";

/** A whole `npm test` on a busy machine. */
export const RUN_WITHIN_MS = 1_500_000;

export const BARE = {
  tags: ["needs/linux", "needs/root", "needs/debootstrap", "needs/util-linux", "needs/git"],
  timeout: RUN_WITHIN_MS,
};

/** What `start` may say beside its answer: a slow machine says what it waits for. */
export const MAY_WAIT = /^((still waiting after| {2}\w+ wrote last:) .*\n)*$/;

/** Runs tests there: they are green, and what the machine lacks is named once. */
export async function isGreen(debian: BareDebian, user: BareUser, line: string): Promise<void> {
  const ran = await debian.runs(user, line);
  const out = stripVTControlCharacters(ran.out);
  process.stdout.write(`${user}: ${line}: ${/^ *Duration +\S+/m.exec(out)?.[0].trim()}\n`);
  expect(ran.code, whatFailed(out + stripVTControlCharacters(ran.err))).toBe(0);
  const [, skipped] = /^ *Tests .* (\d+) skipped/m.exec(out) ?? [];
  const [, leftOut, names = ""] = /^(\d+) tests were left out: they need (.*)\. `/m.exec(out) ?? [];
  expect(leftOut).toBe(skipped);
  for (const name of ["bubblewrap", "git", "openssh-server", "ripgrep"]) expect(names).toContain(name);
}

/** Vitest's own account of the tests that failed; else the last that was said. */
function whatFailed(out: string): string {
  const from = out.search(/^.*Failed (?:Tests|Suites)/m);
  return from === -1 ? out.slice(-20_000) : out.slice(from);
}
