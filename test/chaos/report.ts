/** The result as a table for people and as JSON for programs. */
import type { Exercise } from "./exercise.ts";
import { FAULT_NAMES, FAULTS, type FaultName } from "./fault-names.ts";
import { type History, seenAt, VIOLATIONS, type Violation, type ViolationKind } from "./history.ts";
import { placeOf } from "./model.ts";
import { agentsOf, callsOf, LENT_AGENT, type PlacedCall } from "./plan.ts";

/** The limit for the Worker, the bridge and the broker, at p95. */
const RECOVERY_LIMIT_MS = 5_000;

type Figures = { n: number; p50: number; p95: number; max: number };

/** Nearest rank. */
function figuresOf(values: readonly number[]): Figures | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  if (sorted.length === 0) return undefined;
  return { n: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}

type Calls = { made: number; success: number; unknown: number; notRun: number };

type FaultRow = {
  fault: FaultName;
  turns: number;
  hit: number;
  done: number;
  /** The turns that were answered with an error text. */
  failed: number;
  calls: Calls;
  cutOff: number;
  ms: Figures | undefined;
  recovery: Figures | undefined;
};

export type Report = {
  seed: number;
  seconds: number;
  turns: number;
  /** Turns that were running when their fault came. */
  hit: number;
  answers: number;
  probes: number;
  notRun: number;
  calls: Calls;
  /** The calls of a turn that ask an agent in words, that begin a job, and that go to the other home, also by an agent's own model. */
  ofThem: { asked: Calls; jobs: Calls; lent: Calls };
  /** Calls that took effect, and how many of them have a line in the record of their device. */
  effects: { calls: number; recorded: number };
  rows: FaultRow[];
  skipped: Array<{ fault: FaultName; why: string }>;
  troubles: string[];
  violations: Violation[];
};

export function reportOf(
  { turns, recoveries, troubles, notRun }: Exercise,
  { effects, records }: Pick<History, "effects" | "records">,
  more: Pick<Report, "seed" | "seconds" | "skipped" | "violations">,
): Report {
  const own = turns.filter((turn) => !turn.probe);
  const countCalls = (of: typeof turns, isCounted: (call: PlacedCall) => boolean = () => true): Calls => {
    const calls = of.flatMap(({ script, asked, looks }) => {
      const seen = (looks.at(-1) ?? asked.answer)?.calls ?? [];
      return callsOf(script)
        .filter(isCounted)
        .flatMap((call) => seenAt(call, seen) ?? []);
    });
    const success = calls.filter((call) => call.status === "success").length;
    const unknown = calls.filter((call) => call.error_type === "outcome_unknown").length;
    return { made: calls.length, success, unknown, notRun: calls.length - success - unknown };
  };
  const rows = FAULT_NAMES.flatMap((fault): FaultRow[] => {
    const these = own.filter((turn) => turn.fault === fault);
    if (these.length === 0) return [];
    const done = these.filter(({ asked }) => asked.answer?.status === "done").length;
    return [
      {
        fault,
        turns: these.length,
        hit: these.filter((turn) => turn.hit).length,
        done,
        failed: these.filter(({ asked }) => asked.answer).length - done,
        calls: countCalls(these),
        cutOff: these.reduce((sum, { asked }) => sum + asked.cutOff, 0),
        ms: figuresOf(these.map(({ asked }) => asked.ms)),
        recovery: figuresOf(recoveries.filter((one) => one.fault === fault).map(({ ms }) => ms)),
      },
    ];
  });
  const done = [...effects.values()].flat();
  const recorded = new Set(
    [records.own, records.lender].flatMap(({ lines }) => lines.map(({ parameters }) => placeOf(parameters))),
  );
  return {
    ...more,
    turns: own.length,
    hit: own.filter((turn) => turn.hit).length,
    answers: own.filter(({ asked }) => asked.answer).length,
    probes: turns.length - own.length,
    notRun,
    calls: countCalls(turns),
    ofThem: {
      asked: countCalls(turns, ({ does }) => typeof does === "object"),
      jobs: countCalls(turns, ({ does }) => does === "job"),
      lent: countCalls(turns, (call) => agentsOf([call]).includes(LENT_AGENT)),
    },
    effects: {
      calls: done.length,
      recorded: done.filter(({ place }) => recorded.has(place)).length,
    },
    rows,
    troubles,
  };
}

/**
 * Checks if everything is as required. A slow recovery is reported but does not fail the run, because machines are
 * shared.
 */
export function isSound(report: Report): boolean {
  return report.violations.length === 0 && report.troubles.length === 0 && report.notRun === 0;
}

const LABEL = 24;
const CELL = 9;

export function tableOf(report: Report): string {
  const { rows, calls, ofThem, effects, violations, skipped, troubles } = report;
  const columns = [
    "turns",
    "hit",
    "done",
    "failed",
    "success",
    "unknown",
    "not run",
    "cut off",
    "p50 ms",
    "p95 ms",
  ];
  const line = (name: string, cells: Array<string | number>) =>
    name.padEnd(LABEL) + cells.map((cell) => String(cell).padStart(CELL)).join("");
  const byKind = (Object.keys(VIOLATIONS) as ViolationKind[]).map((kind) => {
    const count = violations.filter((one) => one.kind === kind).length;
    return `  ${count === 0 ? "ok  " : "FAIL"} ${String(count).padStart(5)}  ${VIOLATIONS[kind]}`;
  });
  return [
    `seed ${report.seed}: ${report.turns} turns with a fault in each, and ${report.probes} probes, in ${report.seconds} s`,
    "",
    line("fault", columns),
    ...rows.map(({ fault, turns, hit, done, failed, calls: of, cutOff, ms }) =>
      line(fault, [
        turns,
        hit,
        done,
        failed,
        of.success,
        of.unknown,
        of.notRun,
        cutOff,
        Math.round(ms?.p50 ?? 0),
        Math.round(ms?.p95 ?? 0),
      ]),
    ),
    "",
    "recovery, alone: from the kill to the first turn that is asked after it and answered with a result",
    ...rows.flatMap(({ fault, recovery }) => {
      if (!recovery) return [];
      const slow = recovery.p95 > RECOVERY_LIMIT_MS && FAULTS[fault].target !== "agent" ? "  OVER 5 s" : "";
      const { n, p50, p95, max } = recovery;
      return [
        `  ${fault.padEnd(LABEL - 2)}n ${n}, p50 ${seconds(p50)}, p95 ${seconds(p95)}, max ${seconds(max)}${slow}`,
      ];
    }),
    "",
    `faults  ${report.hit} came while their turn was under way, the others just after it`,
    `answers ${report.answers} of ${report.turns} turns${report.notRun > 0 ? `; ${report.notRun} turns not begun: no time left` : ""}`,
    `calls   ${inWords(calls)}`,
    `  of them asking an agent in words: ${inWords(ofThem.asked)}`,
    `  of them beginning a job: ${inWords(ofThem.jobs)}`,
    `  of them to the other home: ${inWords(ofThem.lent)}`,
    `record  ${effects.recorded} of ${effects.calls} effects have a line; a kill loses the last second's`,
    ...byKind,
    ...violations.map(({ kind, turn, what }) => `  ${kind}${turn ? ` (${turn})` : ""}: ${what}`),
    ...troubles.map((what) => `  trouble: ${what}`),
    ...skipped.map(({ fault, why }) => `  skipped: ${fault}: ${why}`),
  ].join("\n");
}

function inWords({ made, success, unknown, notRun }: Calls): string {
  return `${made}: ${success} success, ${unknown} of unknown outcome, ${notRun} not run`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
