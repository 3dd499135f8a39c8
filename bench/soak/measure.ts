/** Thousands of turns through one stack, and a ledger with a hundred thousand calls: what grows, and what gets slower. */

import { cpuMs } from "../../test/cpu-ms.ts";
import { TOKENS } from "../../test/tokens.ts";
import { usedHeap } from "../../test/used-heap.ts";
import { until } from "../../test/wait.ts";
import { areOnline, read } from "../agents.ts";
import { FILL_PATH, readSums, sumsBetween } from "../cost/tally.ts";
import { type FleetStack, REAL_AGENT, type StackProgram, startFleetStack } from "../fleet/stack.ts";
import { rss } from "../memory.ts";
import { median, percentile } from "../stats.ts";

export type SoakPlan = {
  turns: number;
  /** The turns after which the memory is read first, and over which latency is told. */
  slice: number;
  /** Settled calls that are put into Home's ledger, and the turns before and after. */
  calls: number;
  ledgerTurns: number;
};

type Slice = {
  turns: number;
  p50: number;
  p99: number;
  cpuMs: number;
  rss: Record<StackProgram, number>;
  /** The isolate's heap after a full collection. */
  heapBytes: number;
};
/** `mostRowsRead`: of the turn in which Home looked for old calls, once an hour. */
type TurnAt = { p50: number; cpuMs: number; rowsRead: number; mostRowsRead: number };

export type SoakFigures = {
  slices: Slice[];
  ledger: { calls: number; before: TurnAt; after: TurnAt };
};

const CALLS = [[read(REAL_AGENT)]];
const TURNS_OF_A_CONVERSATION = 5;

export async function measureSoak(dir: string, plan: SoakPlan): Promise<SoakFigures> {
  const stack = await startFleetStack(`${dir}/soak`, 0, "slim", 1);
  try {
    await stack.startBridge();
    await until(() => areOnline(stack.worker.url, [REAL_AGENT]), { what: "the agent is online" });
    const slices: Slice[] = [];
    for (let done = 0; done < plan.turns; done += plan.slice) {
      const cpuBefore = cpuMs(stack.workerd);
      const times = await ask(
        stack,
        plan.slice,
        (n) => `soak-${Math.floor((done + n) / TURNS_OF_A_CONVERSATION)}`,
      );
      slices.push({
        turns: done + plan.slice,
        p50: percentile(times, 0.5),
        p99: percentile(times, 0.99),
        cpuMs: (cpuMs(stack.workerd) - cpuBefore) / plan.slice,
        rss: memory(stack),
        heapBytes: await usedHeap(stack.worker.inspectorUrl ?? "", () => readSums(stack.worker.url)),
      });
    }
    return { slices, ledger: await withLedger(stack, plan) };
  } finally {
    await stack.stop();
  }
}

async function ask(
  { asker }: FleetStack,
  count: number,
  conversation: (n: number) => string,
): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) times.push((await asker.ask(conversation(n), CALLS)).took);
  return times;
}

/** The same turns with a ledger as it is, and with many calls in it. */
async function withLedger(stack: FleetStack, plan: SoakPlan): Promise<SoakFigures["ledger"]> {
  const { url } = stack.worker;
  // A command over the API leaves a row, whatever calls of conversations do.
  const headers = { authorization: `Bearer ${TOKENS.owner}`, "content-type": "application/json" };
  const command = { method: "POST", headers, body: '{"command":"ping"}' };
  const answer = await fetch(`${url}/v1/agents/${REAL_AGENT}/commands`, command);
  if (!answer.ok) throw new Error(`a ping was answered with ${answer.status}`);
  const before = await turnsNow(stack, plan.ledgerTurns, "before");
  const filled = await fetch(`${url}${FILL_PATH}?home=a&calls=${plan.calls}`);
  if (!filled.ok) throw new Error(`the ledger could not be filled: ${await filled.text()}`);
  return { calls: plan.calls, before, after: await turnsNow(stack, plan.ledgerTurns, "after") };
}

async function turnsNow(stack: FleetStack, count: number, name: string): Promise<TurnAt> {
  const conversation = (n: number) => `${name}-${Math.floor(n / TURNS_OF_A_CONVERSATION)}`;
  const rows: number[] = [];
  const times: number[] = [];
  const cpuBefore = cpuMs(stack.workerd);
  let sums = await readSums(stack.worker.url);
  for (let n = 0; n < count; n += 1) {
    times.push((await stack.asker.ask(conversation(n), CALLS)).took);
    const now = await readSums(stack.worker.url);
    const { Home, Conversation } = sumsBetween(sums, now);
    rows.push(Home.rowsRead + Conversation.rowsRead);
    sums = now;
  }
  const cpu = (cpuMs(stack.workerd) - cpuBefore) / count;
  return { p50: median(times), cpuMs: cpu, rowsRead: median(rows), mostRowsRead: Math.max(...rows) };
}

function memory(stack: FleetStack): Record<StackProgram, number> {
  const pids = stack.pids();
  return {
    workerd: rss(pids.workerd),
    bridge: rss(pids.bridge),
    agent: rss(pids.agent),
    broker: rss(pids.broker),
  };
}
