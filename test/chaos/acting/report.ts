/** The result of a run of rules that act as a table for people and as JSON for programs. */
import type { StepOutcome } from "@edgecall/core/protocol/automation.ts";
import { ACTING_FAULT_NAMES, type ActingFault } from "./fault-names.ts";
import {
  ACTING_VIOLATIONS,
  type ActingHistory,
  type ActingViolation,
  type ActingViolationKind,
} from "./history.ts";
import { ACTING_MOMENTS, type ActingMoment } from "./plan.ts";

type Counts = { firings: number; met: number };

export type ActingReport = {
  seed: number;
  seconds: number;
  /** Firings that were planned, and that were made. */
  planned: number;
  firings: number;
  /** Commands that switches got, and actions by what is known of them. */
  commands: number;
  outcomes: Partial<Record<StepOutcome, number>>;
  /** Runs by their state. */
  states: Record<string, number>;
  /** Messages to people. */
  told: number;
  /** Firings of rules with an action of an agent, that look at who is at home, that a press fires; presses of which nothing came. */
  agents: number;
  presence: number;
  presses: number;
  unseen: number;
  byFault: Array<{ name: ActingFault } & Counts>;
  byMoment: Array<{ name: ActingMoment } & Counts>;
  violations: ActingViolation[];
  troubles: string[];
};

export function actingReport(
  houses: readonly ActingHistory[],
  more: Pick<ActingReport, "seed" | "seconds" | "planned" | "violations" | "troubles">,
): ActingReport {
  const all = houses.flatMap(({ rules }) => rules);
  const counts = (of: typeof all): Counts => ({
    firings: of.length,
    met: of.filter(({ met }) => met).length,
  });
  const runs = houses.flatMap((house) => [...house.runs.values()].flat());
  const sum = (names: readonly string[]) =>
    Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, of]) => [name, of.length]));
  return {
    ...more,
    firings: all.length,
    commands: houses.reduce((count, { commands }) => count + commands.length, 0),
    outcomes: sum(runs.flatMap(({ steps }) => steps.map(({ outcome }) => outcome))),
    states: sum(runs.map(({ state }) => state)),
    told: houses.reduce((count, { told }) => count + told.length, 0),
    agents: all.filter(({ steps }) => steps.some(({ device }) => device === "agent")).length,
    presence: all.filter(({ presence }) => presence).length,
    presses: all.filter(({ trigger }) => trigger === "event").length,
    unseen: houses.reduce(
      (count, house) =>
        count +
        house.rules.filter(({ name, trigger }) => trigger === "event" && !house.runs.get(name)?.length)
          .length,
      0,
    ),
    byFault: ACTING_FAULT_NAMES.map((name) => ({
      name,
      ...counts(all.filter(({ fault }) => fault.name === name)),
    })),
    byMoment: ACTING_MOMENTS.map((name) => ({
      name,
      ...counts(all.filter(({ fault }) => fault.moment === name)),
    })),
  };
}

export function isSoundActing({ violations, troubles, firings, planned }: ActingReport): boolean {
  return violations.length === 0 && troubles.length === 0 && firings === planned;
}

const LABEL = 26;

export function actingTable(report: ActingReport): string {
  const { seed, seconds, firings, planned, commands, outcomes, states, told, violations, troubles } = report;
  const row = (name: string, ...columns: unknown[]) =>
    `${name.padEnd(LABEL)}${columns.map((one) => String(one).padStart(9)).join("")}`;
  const rows = (of: ActingReport["byFault"] | ActingReport["byMoment"]) =>
    of.filter((one) => one.firings > 0).map((one) => row(one.name, one.firings, one.met));
  const list = (counts: object) =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(", ");
  const kinds = Object.keys(ACTING_VIOLATIONS) as ActingViolationKind[];
  return [
    `seed ${seed}: ${firings} of ${planned} firings of rules that act, a fault around each, in ${seconds} s`,
    "",
    row("fault", "firings", "at step"),
    ...rows(report.byFault),
    "",
    row("step", "firings", "at step"),
    ...rows(report.byMoment),
    "",
    `${report.agents} with an action of an agent, ${report.presence} by who is at home, ${report.presses} by a press (${report.unseen} came while nothing looked)`,
    `${commands} commands reached devices; actions: ${list(outcomes)}; runs: ${list(states)}; ${told} messages`,
    ...kinds.map((kind) => {
      const count = violations.filter((one) => one.kind === kind).length;
      return `  ${count === 0 ? "ok  " : "FAIL"} ${String(count).padStart(5)}  ${ACTING_VIOLATIONS[kind]}`;
    }),
    ...violations.map(
      ({ kind, house, rule, what }) => `  ${kind} (house ${house}${rule ? `, ${rule}` : ""}): ${what}`,
    ),
    ...troubles.map((what) => `  trouble: ${what}`),
  ].join("\n");
}
