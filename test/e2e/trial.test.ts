/** `npm run trial`, on machines that can run it: each of its steps is a test. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Step } from "../trial/record.ts";
import { STEPS } from "../trial/steps.ts";

const MAIN = join(import.meta.dirname, "../trial/main.ts");
/** The trial's own limit, and the time for the Debian that it may have to make first. */
const WITHIN_MS = 11 * 60_000;

describe("a new user's first hour, on four machines", {
  tags: [
    "needs/linux",
    "needs/root",
    "needs/systemd-container",
    "needs/debootstrap",
    "needs/iptables",
    "needs/iproute2",
    "needs/util-linux",
  ],
}, () => {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-trial-test-"));
  let steps = new Map<string, Step>();
  let output = "";

  beforeAll(async () => {
    const file = join(folder, "trial.json");
    output = await new Promise((resolve) =>
      execFile(process.execPath, [MAIN, "--json", file], { maxBuffer: 1e8 }, (_, out, err) =>
        resolve(err + out),
      ),
    );
    if (!existsSync(file)) throw new Error(output);
    const { steps: done } = JSON.parse(readFileSync(file, "utf8")) as { steps: Step[] };
    steps = new Map(done.map((step) => [step.name, step]));
  }, WITHIN_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(STEPS)("%s", (name) => {
    expect(steps.get(name) ?? { name, note: `not reached:\n${output}` }).toMatchObject({ name, ok: true });
  });
});
