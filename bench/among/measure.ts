/** Measures calls that an agent, a group, another home or a session has part in, beside a call of a named agent. */
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../../test/wait.ts";
import { BENCH_ACTION, read } from "../agents.ts";
import type { ModelCall } from "../endpoint.ts";
import type { Work } from "../load.ts";
import type { Processes } from "../processes.ts";
import { type Figures, figuresOf, median, medianFigures } from "../stats.ts";
import { type Asker, conversations } from "../turns.ts";
import { type AmongStack, ASKING, FREEZING, GROUPS, LENT, NAMED, startAmong } from "./stack.ts";

/** The rows that take turns in each round. */
const AMONG_ROWS = [
  "direct",
  "any",
  "group",
  "delegated",
  "words",
  "step",
  "neighbour",
  "far",
  "accepted",
  "ended",
] as const;
export type AmongRow = (typeof AMONG_ROWS)[number];
/** Calls to a group of which Home has heard nothing for a while, so that it asks by a `ping` first. */
export type ProbedRow = "probed" | "frozen";

export type Among = {
  rounds: number;
  /** `overDirect`: p50 over that of a call of a named agent, the median of the rounds' ratios. */
  rows: Record<AmongRow | ProbedRow, Figures & { overDirect: number }>;
  stepOverWords: number;
};
/** `calls` of each row in a round: the same number of each, since a grant has 600 requests a minute. */
export type AmongPlan = { rounds: number; calls: number; probes: number };

/** Calls of one turn, where the row has several. */
const CALLS_OF_A_TURN = 4;
/** A message counts as a sign of life for five seconds. */
const UNHEARD_MS = 5_500;

export async function measureAmong(
  dir: string,
  processes: Processes,
  plan: AmongPlan,
  onRound: (round: number) => void,
): Promise<Among> {
  const stack = await startAmong(dir, processes);
  try {
    const work = worksOf(stack);
    // Before any other call: the agent that is to be frozen has to be the one that was given the fewest.
    const probed = await measureProbes(stack, plan.probes);
    for (const row of AMONG_ROWS) await times(work[row], plan.calls);
    const rounds: Array<Record<AmongRow, Figures>> = [];
    for (let round = 1; round <= plan.rounds; round += 1) {
      onRound(round);
      rounds.push(await byRow((row) => times(work[row], plan.calls)));
    }
    const ratio = (of: AmongRow, to: AmongRow) =>
      median(rounds.map((round) => round[of].p50 / round[to].p50));
    const rows = await byRow(async (row) => ({
      ...medianFigures(rounds.map((round) => round[row])),
      overDirect: ratio(row, "direct"),
    }));
    const over = (figures: Figures) => ({ ...figures, overDirect: figures.p50 / rows.direct.p50 });
    return {
      rounds: rounds.length,
      rows: { ...rows, probed: over(probed.probed), frozen: over(probed.frozen) },
      stepOverWords: ratio("step", "words"),
    };
  } finally {
    await stack.stop();
  }
}

function worksOf({ endpoint, askers, endedTurns }: AmongStack): Record<AmongRow, Work> {
  const conversationOf = conversations();
  const called =
    (call: ModelCall, asker: Asker = askers.own): Work =>
    async (slot) =>
      (await asker.ask(conversationOf(slot), Array(CALLS_OF_A_TURN).fill([call]))).times.calls;

  /** The own loop of an agent asks for these calls, one after the other. */
  const inWords = async (slot: number, calls: readonly ModelCall[]) => {
    const inner = endpoint.script(calls.map((call) => [call]));
    const question = { name: "edge_call", arguments: { agent_id: ASKING, query: inner.text } };
    const outer = await askers.own.ask(conversationOf(slot), [[question]]);
    if (inner.times.calls.length !== calls.length)
      throw new Error(`${ASKING} did not do its ${calls.length} calls`);
    return { inner: inner.times, ms: (outer.times.calls[0] ?? Number.NaN) - inner.times.own };
  };

  const spawned = async (conversation: string, more: object) => {
    const inner = endpoint.script([]);
    const task = { name: "sessions_spawn", arguments: { task: inner.text, ...more } };
    const outer = await askers.own.ask(conversation, [[task]]);
    return (outer.times.calls[0] ?? Number.NaN) - inner.times.own;
  };

  return {
    direct: called(read(NAMED)),
    any: called(read("any")),
    group: called(read("trio")),
    delegated: async (slot) => (await inWords(slot, Array(CALLS_OF_A_TURN).fill(read(NAMED)))).inner.calls,
    words: async (slot) => [(await inWords(slot, [{ name: BENCH_ACTION, arguments: {} }])).ms],
    step: async (slot) => [(await inWords(slot, [read(NAMED)])).ms],
    neighbour: called(read(LENT), askers.neighbour),
    far: called(read(LENT), askers.far),
    async accepted() {
      const conversation = `accepted-${crypto.randomUUID()}`;
      const ms = await spawned(conversation, {});
      // Its end begins a turn, which the next call would have to share the cores with.
      await until(async () => (await endedTurns(conversation)) === 2, {
        within: 10_000,
        what: "the session's end was told",
      });
      return [ms];
    },
    ended: async (slot) => [await spawned(conversationOf(slot), { timeout_seconds: 60 })],
  };
}

/** One call of each group at a time, when nobody was heard for a while. The frozen agent is thawed and called in between. */
async function measureProbes(stack: AmongStack, probes: number): Promise<Record<ProbedRow, Figures>> {
  const conversationOf = conversations();
  const callOf = async (agent: string) => {
    const { times } = await stack.askers.own.ask(conversationOf(0), [[read(agent)]]);
    return times.calls[0] ?? Number.NaN;
  };
  const samples: Record<ProbedRow, number[]> = { probed: [], frozen: [] };
  // The first calls of all warm up.
  for (let probe = 0; probe <= probes; probe += 1) {
    for (const id of Object.values(GROUPS).flat()) await callOf(id);
    await pause(UNHEARD_MS);
    const probed = await callOf("trio");
    stack.freeze();
    const frozen = await callOf("pair").finally(() => stack.thaw());
    // Its own call shows Home that it is there again.
    await callOf(FREEZING);
    if (probe === 0) continue;
    samples.probed.push(probed);
    samples.frozen.push(frozen);
  }
  const figures = (row: ProbedRow) =>
    figuresOf(
      samples[row],
      samples[row].reduce((sum, ms) => sum + ms, 0),
    );
  return { probed: figures("probed"), frozen: figures("frozen") };
}

async function times(work: Work, calls: number): Promise<Figures> {
  const samples: number[] = [];
  const began = performance.now();
  while (samples.length < calls) samples.push(...(await work(0)));
  return figuresOf(samples, performance.now() - began);
}

async function byRow<T>(make: (row: AmongRow) => Promise<T>): Promise<Record<AmongRow, T>> {
  const made: Array<[AmongRow, T]> = [];
  for (const row of AMONG_ROWS) made.push([row, await make(row)]);
  // SAFETY: every row is in the list.
  return Object.fromEntries(made) as Record<AmongRow, T>;
}
