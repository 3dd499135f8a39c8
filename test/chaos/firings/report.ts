/** The result of a run of firings as a table for people and as JSON for programs. */
import { FIRING_FAULT_NAMES, type FiringFault } from "./fault-names.ts";
import {
  FIRING_VIOLATIONS,
  type FiringViolation,
  type FiringViolationKind,
  type SeasonHistory,
} from "./history.ts";
import { linesOf } from "./lines.ts";
import { MOMENTS, type Moment } from "./plan.ts";

type Counts = { faults: number; met: number; firings: number };

export type FiringReport = {
  seed: number;
  seconds: number;
  /** Those that were planned. */
  planned: number;
  firings: number;
  faults: number;
  /** Firings that were told, and ends. */
  told: number;
  ends: number;
  /** Messages that a chat got again because the answer to the first was lost. */
  repeats: number;
  byFault: Array<{ name: FiringFault } & Counts>;
  byMoment: Array<{ name: Moment } & Counts>;
  byKind: Record<string, number>;
  violations: FiringViolation[];
  troubles: string[];
};

export function firingReport(
  seasons: readonly SeasonHistory[],
  more: Pick<FiringReport, "seed" | "seconds" | "planned" | "violations" | "troubles">,
): FiringReport {
  const all = seasons.flatMap(({ firings }) => firings);
  const counts = (of: typeof all): Counts => {
    const volleys = new Map(of.map((one) => [one.k, one]));
    return {
      faults: volleys.size,
      met: [...volleys.values()].filter(({ met }) => met).length,
      firings: of.length,
    };
  };
  const lines = seasons.flatMap(({ noticed, shown }) =>
    [...noticed.map(({ text }) => text), ...shown.telegram, ...shown.generic].flatMap(linesOf),
  );
  const told = new Set(lines.filter(({ says }) => says === "firing").map(({ rule }) => rule));
  return {
    ...more,
    firings: all.length,
    faults: counts(all).faults,
    told: all.filter(({ name }) => told.has(name)).length,
    ends: lines.filter(({ says }) => says === "over").length,
    repeats: seasons.reduce(
      (sum, { taken }) => sum + repeatsIn(taken.telegram) + repeatsIn(taken.generic),
      0,
    ),
    byFault: FIRING_FAULT_NAMES.map((name) => ({
      name,
      ...counts(all.filter(({ fault }) => fault === name)),
    })),
    byMoment: MOMENTS.map((name) => ({ name, ...counts(all.filter(({ moment }) => moment === name)) })),
    byKind: Object.fromEntries(
      [...Map.groupBy(all, ({ kind, told: where }) => `${kind} in ${where}`)].map(([name, of]) => [
        name,
        of.length,
      ]),
    ),
  };
}

function repeatsIn(taken: ReadonlyArray<{ text: string }>): number {
  const notices = taken.map(({ text }) => text).filter((text) => linesOf(text).length > 0);
  return notices.length - new Set(notices).size;
}

export function isSoundReport({ violations, troubles, firings, planned }: FiringReport): boolean {
  return violations.length === 0 && troubles.length === 0 && firings === planned;
}

const LABEL = 26;

export function firingTable(report: FiringReport): string {
  const { seed, seconds, firings, planned, faults, told, ends, repeats, violations, troubles } = report;
  const row = (name: string, ...columns: unknown[]) =>
    `${name.padEnd(LABEL)}${columns.map((one) => String(one).padStart(9)).join("")}`;
  const rows = (of: FiringReport["byFault"] | FiringReport["byMoment"]) =>
    of.filter((one) => one.faults > 0).map((one) => row(one.name, one.faults, one.met, one.firings));
  const kinds = Object.keys(FIRING_VIOLATIONS) as FiringViolationKind[];
  return [
    `seed ${seed}: ${firings} of ${planned} firings with ${faults} faults around them, in ${seconds} s`,
    "",
    row("fault", "faults", "at step", "firings"),
    ...rows(report.byFault),
    "",
    row("step", "faults", "at step", "firings"),
    ...rows(report.byMoment),
    "",
    ...Object.entries(report.byKind).map(([name, count]) => row(name, count)),
    "",
    `told ${told} of ${firings} firings, and ${ends} ends; ${repeats} messages came again, their answers having been lost`,
    ...kinds.map((kind) => {
      const count = violations.filter((one) => one.kind === kind).length;
      return `  ${count === 0 ? "ok  " : "FAIL"} ${String(count).padStart(5)}  ${FIRING_VIOLATIONS[kind]}`;
    }),
    ...violations.map(
      ({ kind, season, rule, what }) => `  ${kind} (season ${season}${rule ? `, ${rule}` : ""}): ${what}`,
    ),
    ...troubles.map((what) => `  trouble: ${what}`),
  ].join("\n");
}
