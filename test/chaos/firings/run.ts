/** A run of firings: seasons one after the other, several at once, each in a home of its own. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startScriptedModel } from "../../scripted-model.ts";
import { dice } from "../dice.ts";
import type { FiringFault } from "./fault-names.ts";
import type { FiringViolation, SeasonHistory } from "./history.ts";
import { type House, makeHouse } from "./house.ts";
import { type PlannedSeason, planSeasons } from "./plan.ts";
import { type FiringReport, firingReport } from "./report.ts";
import { runSeason } from "./season.ts";
import { judgeSeason } from "./verdict.ts";

export type FiringRun = {
  seed: number;
  count: number;
  faults: readonly FiringFault[];
  /** Only these. Undefined: all. */
  seasons: readonly number[] | undefined;
  /** Seasons at once. */
  atOnce: number;
  /** No season begins after this many ms. */
  limitMs: number;
  dir: string;
  say: (line: string) => void;
};

/** @property stop ends all processes */
export function firingRun(options: FiringRun): { report(): Promise<FiringReport>; stop(): Promise<void> } {
  const houses = new Set<House>();
  return {
    report: () => run(options, houses),
    stop: async () => {
      await Promise.all([...houses].map((house) => house.stop()));
    },
  };
}

async function run(options: FiringRun, houses: Set<House>): Promise<FiringReport> {
  const { seed, count, faults, atOnce, limitMs, dir, say } = options;
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1_000);
  const isWanted = ({ season }: PlannedSeason) => options.seasons?.includes(season) ?? true;
  const left = planSeasons(seed, count, faults).filter(isWanted);
  const planned = left.flatMap(({ volleys }) => volleys.flatMap(({ firings }) => firings)).length;
  const model = await startScriptedModel();
  const done: SeasonHistory[] = [];
  const violations: FiringViolation[] = [];
  const troubles: string[] = [];

  async function runner(): Promise<void> {
    for (let plan = left.shift(); plan; plan = left.shift()) {
      if (performance.now() - began > limitMs) return;
      const { season } = plan;
      const folder = join(dir, `season-${season}`);
      mkdirSync(folder, { recursive: true });
      const house = await makeHouse({
        dir: folder,
        modelUrl: model.url,
        random: dice(seed, `links ${season}`).next,
        onDied: (name, how) => violations.push({ kind: "died", season, what: `${name}: ${how}` }),
      });
      houses.add(house);
      try {
        await house.start();
        const history = await runSeason(house, plan, { dir: folder, say });
        const found = judgeSeason(history);
        done.push(history);
        violations.push(...found);
        troubles.push(...history.troubles);
        for (const { kind, rule, what } of found) say(`season ${season}: ${kind} (${rule}): ${what}`);
        // For whoever looks for the cause.
        const seen = { ...history, occurrences: Object.fromEntries(history.occurrences) };
        writeFileSync(join(folder, "history.json"), JSON.stringify(seen, null, 2));
        say(
          `season ${season}: ${history.firings.length} firings, ${found.length} violations, ${seconds()} s`,
        );
      } catch (error) {
        troubles.push(
          `season ${season}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
      } finally {
        houses.delete(house);
        await house.stop();
      }
    }
  }

  await Promise.all(Array.from({ length: atOnce }, runner));
  await model.close();
  return firingReport(done, { seed, seconds: seconds(), planned, violations, troubles });
}
