/** Ten power cuts; `npm run power` makes two hundred, or any number. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bridgePowerCuts } from "../power/bridge.ts";
import { powerCuts } from "../power/rounds.ts";

const TIMES = 10;

test("after each power cut the agent is back, remembers every call that it had started, and ran none twice", async () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-power-"));
  const found = await powerCuts({ dir, times: TIMES, seed: 6, say: () => {} });
  expect(found).toMatchObject({ rounds: TIMES, twice: [], forgotten: [], changed: [] });
  // It was working, and files were damaged.
  expect(found.executed).toBeGreaterThan(TIMES / 2);
  expect(Object.values(found.cuts).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  rmSync(dir, { recursive: true, force: true });
}, 180_000);

test("after each power cut the bridge is back, and the broker's files match the home's list", async () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-power-"));
  const found = await bridgePowerCuts({ dir, times: TIMES, seed: 6, say: () => {} });
  expect(found).toMatchObject({ rounds: TIMES, wrong: [] });
  rmSync(dir, { recursive: true, force: true });
}, 180_000);
