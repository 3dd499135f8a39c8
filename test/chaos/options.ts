/** The command line of `npm run chaos`. */
import { parseArgs } from "node:util";
import { ACTING_FAULT_NAMES, type ActingFault } from "./acting/fault-names.ts";
import { ASSISTANT_FAULTS, type AssistantFault } from "./assistant/plan.ts";
import { chooseFaults, chooseFrom, FAULT_NAMES, type FaultName } from "./fault-names.ts";
import { FIRING_FAULT_NAMES, type FiringFault } from "./firings/fault-names.ts";

export const USAGE = `usage: npm run chaos -- [options]

  --turns N        so many turns, a fault in each (500)
  --short          48 turns that meet every fault, in under 4 minutes
  --seed N         the same turns and faults once more (a new seed each time, printed)
  --only K[,K…]    only these turns of the seed
  --faults LIST    only these faults, e.g. kill,cut:gateway
  --at-once N      turns under way at once (6)
  --json FILE      the figures as JSON too
  --keep           keep the logs also when all is well
  --help           show this

  --firings N      instead of turns: so many firings of rules, with faults around them, as 1000; CI runs 36
  --seasons K[,K…] only these seasons of the seed; a season is a home of its own
  with --seed, --faults, --json, --keep, and --at-once for the seasons at once (2)

  --acting N       instead of turns: so many firings of rules that act, with a fault around each, as 300; CI runs 36; with --seed,
                   --only, --faults, --json, --keep and --at-once for the homes at once (2)
  --played         with --acting: the gateway is the run's own, so that the bridge is alone with its faults

  --home-assistant N  instead of turns: so many commands to devices of a real Home Assistant, each with a fault; with --seed,
                   --faults, --json, --keep and --at-once (6)

faults: ${FAULT_NAMES.join(" ")}

faults of firings: ${FIRING_FAULT_NAMES.join(" ")}

faults of rules that act: ${ACTING_FAULT_NAMES.join(" ")}

faults with Home Assistant: ${ASSISTANT_FAULTS.join(" ")}
`;

export type Options = {
  turns: number[];
  seed: number;
  faults: FaultName[];
  atOnce: number;
  limitMs: number;
  json: string | undefined;
  keep: boolean;
  /** Instead of turns. */
  firings: FiringOptions | undefined;
  /** Instead of turns. */
  assistant: AssistantOptions | undefined;
  /** Instead of turns. */
  acting: ActingOptions | undefined;
};

type ActingOptions = {
  count: number;
  faults: ActingFault[];
  /** Absent: all. */
  only: number[] | undefined;
  isPlayed: boolean;
  atOnce: number;
  limitMs: number;
};

type AssistantOptions = { count: number; faults: AssistantFault[]; atOnce: number; limitMs: number };

type FiringOptions = {
  count: number;
  faults: FiringFault[];
  /** Absent: all. */
  seasons: number[] | undefined;
  atOnce: number;
  limitMs: number;
};

const LONG_TURNS = 500;
/** Enough for every fault once and some kills twice. */
const SHORT_TURNS = 48;
/** The run may take 4 minutes; the rest is for the start and the last checks. */
const SHORT_LIMIT_MS = 170_000;
/** On two cores a turn takes about 2 s of the whole; one that waits for a deadline takes more. */
const LIMIT_PER_TURN_MS = 6_000;
/** Six are under way, and a restart of Home Assistant holds all up. */
const LIMIT_PER_COMMAND_MS = 4_000;
/** A season of 45 firings takes about two minutes, and two are under way. */
const LIMIT_PER_FIRING_MS = 3_000;
/** A home of 42 firings takes about three minutes, and two are under way. */
const LIMIT_PER_ACT_MS = 4_000;
const LIMIT_AT_LEAST_MS = 300_000;

/** @returns undefined when help was requested. @throws an error that names the option and what would be right */
export function readOptions(args: string[]): Options | undefined {
  const { values } = parseArgs({
    args,
    options: {
      turns: { type: "string" },
      short: { type: "boolean", default: false },
      seed: { type: "string" },
      only: { type: "string" },
      firings: { type: "string" },
      acting: { type: "string" },
      played: { type: "boolean", default: false },
      "home-assistant": { type: "string" },
      seasons: { type: "string" },
      faults: { type: "string" },
      "at-once": { type: "string" },
      json: { type: "string" },
      keep: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const count = whole("--turns", values.turns ?? (values.short ? SHORT_TURNS : LONG_TURNS), 1);
  const turns =
    values.only === undefined
      ? Array.from({ length: count }, (_, k) => k)
      : values.only.split(",").map((k) => whole("--only", k, 0));
  return {
    turns,
    seed: whole("--seed", values.seed ?? Math.floor(Math.random() * 1_000_000), 0),
    faults:
      values.faults === undefined ||
      (values.firings ?? values["home-assistant"] ?? values.acting) !== undefined
        ? FAULT_NAMES
        : chooseFaults(values.faults),
    atOnce: whole("--at-once", values["at-once"] ?? 6, 1),
    limitMs: values.short ? SHORT_LIMIT_MS : Math.max(LIMIT_AT_LEAST_MS, turns.length * LIMIT_PER_TURN_MS),
    json: values.json,
    keep: values.keep,
    firings: values.firings === undefined ? undefined : firingOptions(values.firings, values),
    assistant:
      values["home-assistant"] === undefined ? undefined : assistantOptions(values["home-assistant"], values),
    acting: values.acting === undefined ? undefined : actingOptions(values.acting, values),
  };
}

type Values = { [name in "seasons" | "only" | "faults" | "at-once"]?: string | undefined } & {
  played?: boolean;
};

function firingOptions(firings: string, values: Values): FiringOptions {
  const count = whole("--firings", firings, 1);
  return {
    count,
    faults: values.faults === undefined ? FIRING_FAULT_NAMES : chooseFrom(FIRING_FAULT_NAMES, values.faults),
    seasons: values.seasons?.split(",").map((k) => whole("--seasons", k, 0)),
    atOnce: whole("--at-once", values["at-once"] ?? 2, 1),
    limitMs: Math.max(LIMIT_AT_LEAST_MS, count * LIMIT_PER_FIRING_MS),
  };
}

function actingOptions(acting: string, values: Values): ActingOptions {
  const count = whole("--acting", acting, 1);
  return {
    count,
    faults: values.faults === undefined ? ACTING_FAULT_NAMES : chooseFrom(ACTING_FAULT_NAMES, values.faults),
    only: values.only?.split(",").map((k) => whole("--only", k, 0)),
    isPlayed: values.played === true,
    atOnce: whole("--at-once", values["at-once"] ?? 2, 1),
    limitMs: Math.max(LIMIT_AT_LEAST_MS, count * LIMIT_PER_ACT_MS),
  };
}

function assistantOptions(commands: string, values: Values): AssistantOptions {
  const count = whole("--home-assistant", commands, 1);
  return {
    count,
    faults: values.faults === undefined ? [...ASSISTANT_FAULTS] : chooseFrom(ASSISTANT_FAULTS, values.faults),
    atOnce: whole("--at-once", values["at-once"] ?? 6, 1),
    limitMs: Math.max(LIMIT_AT_LEAST_MS, count * LIMIT_PER_COMMAND_MS),
  };
}

function whole(name: string, value: string | number, min: number): number {
  const read = Number(value);
  if (value !== "" && Number.isSafeInteger(read) && read >= min) return read;
  throw new Error(`${name}: expected a whole number from ${min}, got '${value}'`);
}
