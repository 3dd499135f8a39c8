/** The command line of `npm run chaos`. */
import { parseArgs } from "node:util";
import { chooseFaults, FAULT_NAMES, type FaultName } from "./fault-names.ts";

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

faults: ${FAULT_NAMES.join(" ")}
`;

export type Options = {
  turns: number[];
  seed: number;
  faults: FaultName[];
  atOnce: number;
  limitMs: number;
  json: string | undefined;
  keep: boolean;
};

const LONG_TURNS = 500;
/** Enough for every fault once and some kills twice. */
const SHORT_TURNS = 48;
/** The run may take 4 minutes; the rest is for the start and the last checks. */
const SHORT_LIMIT_MS = 170_000;
/** On two cores a turn takes about 2 s of the whole; one that waits for a deadline takes more. */
const LIMIT_PER_TURN_MS = 6_000;
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
    faults: values.faults === undefined ? FAULT_NAMES : chooseFaults(values.faults),
    atOnce: whole("--at-once", values["at-once"] ?? 6, 1),
    limitMs: values.short ? SHORT_LIMIT_MS : Math.max(LIMIT_AT_LEAST_MS, turns.length * LIMIT_PER_TURN_MS),
    json: values.json,
    keep: values.keep,
  };
}

function whole(name: string, value: string | number, min: number): number {
  const read = Number(value);
  if (value !== "" && Number.isSafeInteger(read) && read >= min) return read;
  throw new Error(`${name}: expected a whole number from ${min}, got '${value}'`);
}
