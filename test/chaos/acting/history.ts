/** What a house leaves to be judged, and the kinds of violation. */
import type { AutomationNews, AutomationRun } from "@edgecall/core/protocol/automation.ts";
import type { SaidState, SeenCommand } from "./devices.ts";
import type { PlannedRule, QuietRule } from "./plan.ts";

export type ActingRecord = PlannedRule & {
  /** The moment came, and the fault with it. */
  met: boolean;
  /** Epoch ms of this machine. */
  crossedAt: number;
  /** When its value went back. */
  backAt?: number;
  /** The bridge was connected to all and quiet when a moment came, and had said who is at home. */
  ready: boolean;
};

/** The bridge was started with a clock that is ahead, which is set right at `to`: that time counts as passed. Epoch ms of this machine. */
export type StartAhead = { from: number; to: number };

/** What all sources together say from then on. */
export type SaidHome = { at: number; somebody: boolean };

export type ActingHistory = {
  house: number;
  rules: readonly ActingRecord[];
  quiet: readonly QuietRule[];
  /** What the switches got, and what they reported after it. */
  commands: readonly SeenCommand[];
  states: readonly SaidState[];
  home: readonly SaidHome[];
  startsAhead: readonly StartAhead[];
  /** What the gateway says that it stored of the bridge's news, by the rule's name. */
  news: ReadonlyMap<string, readonly AutomationNews[]>;
  /** The bridge's own word at the end, by the rule's name. */
  runs: ReadonlyMap<string, readonly AutomationRun[]>;
  /** Messages to people about rules. */
  told: readonly string[];
  troubles: readonly string[];
};

export const ACTING_VIOLATIONS = {
  twice: "actions that a device was told twice",
  again: "rules that fired once and have several runs",
  disallowed: "commands that no rule allows, or that came before their time",
  lost: "rules that fired and have neither run nor word",
  open: "runs without an end",
  untold: "actions that are neither confirmed nor told",
  silent: "runs whose maker wanted words, and got none",
  untrue: "words that are not so",
  end: "runs that are over, and what they switched on stays so without a word",
  died: "programs that ended by themselves",
} as const;
export type ActingViolationKind = keyof typeof ACTING_VIOLATIONS;
export type ActingViolation = { kind: ActingViolationKind; house: number; rule?: string; what: string };
