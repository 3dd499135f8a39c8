/** A run of rules that act: houses one after the other, several at once, each a home of its own. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startScriptedModel } from "../../scripted-model.ts";
import { dice } from "../dice.ts";
import type { ActingFault } from "./fault-names.ts";
import type { ActingHistory, ActingViolation } from "./history.ts";
import { type ActingHouse, makeHouse } from "./house.ts";
import { runHouse } from "./house-run.ts";
import { planHouses } from "./plan.ts";
import { type ActingReport, actingReport } from "./report.ts";
import { judgeHouse } from "./verdict.ts";

export type ActingRun = {
  seed: number;
  count: number;
  faults: readonly ActingFault[];
  /** Only these firings. Undefined: all. */
  only: readonly number[] | undefined;
  /** The gateway is the run's own, so that the bridge is alone with its faults. */
  isPlayed: boolean;
  /** Houses at once. */
  atOnce: number;
  /** No house begins after this many ms. */
  limitMs: number;
  dir: string;
  say: (line: string) => void;
};

/** @property stop ends all processes */
export function actingRun(options: ActingRun): { report(): Promise<ActingReport>; stop(): Promise<void> } {
  const houses = new Set<ActingHouse>();
  return {
    report: () => run(options, houses),
    stop: async () => {
      await Promise.all([...houses].map((house) => house.stop()));
    },
  };
}

async function run(options: ActingRun, houses: Set<ActingHouse>): Promise<ActingReport> {
  const { seed, count, faults, only, isPlayed, atOnce, limitMs, dir, say } = options;
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1_000);
  const left = planHouses(seed, count, faults, only, isPlayed);
  const planned = left.reduce((sum, { rules }) => sum + rules.length, 0);
  const model = await startScriptedModel();
  const done: ActingHistory[] = [];
  const violations: ActingViolation[] = [];
  const troubles: string[] = [];

  async function runner(): Promise<void> {
    for (let plan = left.shift(); plan; plan = left.shift()) {
      if (performance.now() - began > limitMs) return;
      const { house: n } = plan;
      const folder = join(dir, `house-${n}`);
      mkdirSync(folder, { recursive: true });
      const house = await makeHouse({
        dir: folder,
        modelUrl: isPlayed ? undefined : model.url,
        random: dice(seed, `acting links ${n}`).next,
        onDied: (name, how) => violations.push({ kind: "died", house: n, what: `${name}: ${how}` }),
      });
      houses.add(house);
      try {
        await house.start();
        const history = await runHouse(house, plan, { dir: folder, seed, say });
        const found = judgeHouse(history);
        done.push(history);
        violations.push(...found);
        troubles.push(...history.troubles);
        for (const { kind, rule, what } of found) say(`house ${n}: ${kind} (${rule}): ${what}`);
        // For whoever looks for the cause.
        const seen = {
          ...history,
          news: Object.fromEntries(history.news),
          runs: Object.fromEntries(history.runs),
        };
        writeFileSync(join(folder, "history.json"), JSON.stringify(seen, null, 2));
        say(`house ${n}: ${history.rules.length} firings, ${found.length} violations, ${seconds()} s`);
      } catch (error) {
        troubles.push(
          `house ${n}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
      } finally {
        houses.delete(house);
        await house.stop();
      }
    }
  }

  await Promise.all(Array.from({ length: atOnce }, runner));
  await model.close();
  return actingReport(done, { seed, seconds: seconds(), planned, violations, troubles });
}
