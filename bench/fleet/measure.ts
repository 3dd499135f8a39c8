/** What a home costs that has so many agents: connecting, a storm, a turn, the model's request, memory, lists. */
import { setTimeout as sleep } from "node:timers/promises";
import { textTokens } from "@edgecall/core/loop/tokens.ts";
import { cpuMs } from "../../test/cpu-ms.ts";
import { TOKENS } from "../../test/tokens.ts";
import { usedHeap } from "../../test/used-heap.ts";
import { read } from "../agents.ts";
import { readSums, type Sums, sumsBetween } from "../cost/tally.ts";
import { rss } from "../memory.ts";
import { median } from "../stats.ts";
import { type Probe, startProbe } from "./probe.ts";
import { type AdvertKind, type FleetStack, REAL_AGENT, startFleetStack } from "./stack.ts";

export type FleetPlan = {
  /** The numbers of agents, with the adverts that they publish. */
  fleets: ReadonlyArray<{ agents: number; advert: AdvertKind }>;
  turns: number;
  atOnce: number;
  /** A step that takes longer is given up, and the rest of that fleet with it. */
  withinMs: number;
};

export type StepFigures = {
  /** Processor time of workerd, the probe's questions included. */
  cpuMs: number;
  /** From the gateway's welcome (connecting), or the first message (storm), until all agents are online. */
  ms: number;
  /** From the bridge's start, or the storm's, until then. */
  wholeMs: number;
  /** The longest answer of `/v1/status` meanwhile. */
  deafMs: number;
  /** Frames from the bridge, and rows of Home. */
  frames: number;
  rowsRead: number;
  rowsWritten: number;
};

type ListFigures = { bytes: number; ms: number };

type FleetFigures = {
  agents: number;
  advert: AdvertKind;
  advertBytes: number;
  advertTools: number;
  /** Milliseconds of pairing one agent over HTTP. */
  pairMs: number;
  first: StepFigures;
  /** Another bridge connects, and nothing has changed. */
  second: StepFigures;
  storm: StepFigures & { turns: number; failedTurns: number; slowestTurnMs: number };
  /** Of the request to the model. Tokens as the gateway estimates them. */
  request: { toolsBytes: number; systemBytes: number; tokens: number };
  turnMs: number;
  turnCpuMs: number;
  atOnceMs: number;
  /** Bytes in use in the isolate after a full collection, at rest, and the process's resident set. */
  heapBytes: number;
  /** Home's database. */
  homeBytes: number;
  rssBytes: number;
  list: ListFigures;
  status: ListFigures;
};

/** A fleet that did not get through, with the figures until then. */
export type FleetResult = Partial<FleetFigures> & {
  agents: number;
  advert: AdvertKind;
  problem?: string;
};

/** They return this long after they dropped. */
const RETURN_AFTER_MS = 2_500;
const LOOK_EVERY_MS = 10;
const LOOK_AT_STORM_MS = 50;
/** The pause between two questions during a storm. */
const ASK_EVERY_MS = 200;
/** The frames of these questions in the time between two looks, at most. */
const FRAMES_OF_TURNS = 4;
/** No more frames than those come for so long: the storm is over. */
const QUIET_MS = 500;
const CONVERSATIONS = 5;
const CALLS = [[read(REAL_AGENT)]];
const LIST_ROUNDS = 5;
const PROBLEM_CHARS = 200;

export async function measureFleets(
  dir: string,
  plan: FleetPlan,
  say: (line: string) => void,
): Promise<FleetResult[]> {
  const results: FleetResult[] = [];
  for (const { agents, advert } of plan.fleets) {
    const figures: FleetResult = { agents, advert };
    const stack = await startFleetStack(`${dir}/fleet-${agents}-${advert}`, agents - 1, advert, plan.atOnce);
    try {
      await measureOne(stack, figures, plan);
    } catch (error) {
      figures.problem = (error instanceof Error ? error.message : String(error)).slice(0, PROBLEM_CHARS);
      say(`${agents} agents, ${advert}: ${figures.problem}`);
    } finally {
      await stack.stop();
    }
    results.push(figures);
    say(`${agents} agents, ${advert}: done`);
  }
  return results;
}

async function measureOne(stack: FleetStack, figures: FleetResult, plan: FleetPlan): Promise<void> {
  const { simulator, worker, asker, endpoint } = stack;
  figures.advertBytes = stack.advert.bytes;
  figures.advertTools = stack.advert.tools;
  const others = figures.agents - 1;
  const began = performance.now();
  await inTime(simulator.step("pair"), plan.withinMs, "pairing");
  figures.pairMs = others === 0 ? Number.NaN : (performance.now() - began) / others;
  await simulator.step("birth");

  const probe = startProbe(worker.url);
  try {
    figures.first = await connecting(stack, probe, figures.agents, plan.withinMs);
    await stack.killBridge();
    await wait(() => probe.online() === 0, plan.withinMs, "the bridge's loss is seen");
    figures.second = await connecting(stack, probe, figures.agents, plan.withinMs);
    const turn = await turns(stack, plan.turns);
    figures.turnMs = turn.ms;
    figures.turnCpuMs = turn.cpuMs;
    figures.request = requestFigures(endpoint.lastRequest());
    figures.storm = await storm(stack, probe, figures.agents, plan.withinMs, turn);
  } finally {
    await probe.stop();
  }

  const together = performance.now();
  await Promise.all(Array.from({ length: plan.atOnce }, (_, n) => asker.ask(`many-${n}`, CALLS)));
  figures.atOnceMs = performance.now() - together;
  figures.list = await listed(`${worker.url}/v1/agents`);
  figures.status = await listed(`${worker.url}/v1/status`);
  figures.heapBytes = await usedHeap(worker.inspectorUrl ?? "", () => readSums(worker.url));
  figures.homeBytes = (await readSums(worker.url)).Home.bytes;
  figures.rssBytes = rss(stack.workerd);
}

type TurnShare = { ms: number; cpuMs: number } & ReturnType<typeof counted>;

/** Asks turns with one call, one after another. @returns the median time, and what each takes of everything else */
async function turns({ asker, worker, workerd }: FleetStack, count: number): Promise<TurnShare> {
  for (let n = 0; n < CONVERSATIONS; n += 1) await asker.ask(`one-${n}`, CALLS);
  const times: number[] = [];
  const before = await readSums(worker.url);
  const cpuBefore = cpuMs(workerd);
  for (let n = 0; n < count; n += 1) times.push((await asker.ask(`one-${n % CONVERSATIONS}`, CALLS)).took);
  const cpu = (cpuMs(workerd) - cpuBefore) / count;
  const { frames, rowsRead, rowsWritten } = counted(before, await readSums(worker.url));
  return {
    ms: median(times),
    cpuMs: cpu,
    frames: frames / count,
    rowsRead: rowsRead / count,
    rowsWritten: rowsWritten / count,
  };
}

/** A new bridge connects, until all agents are online. */
async function connecting(
  stack: FleetStack,
  probe: Probe,
  agents: number,
  withinMs: number,
): Promise<StepFigures> {
  const before = await readSums(stack.worker.url);
  const cpuBefore = cpuMs(stack.workerd);
  probe.longest();
  const began = Date.now();
  await stack.startBridge();
  await wait(
    () => probe.online() === agents,
    withinMs,
    "all agents are online",
    () => `${probe.online()} are`,
  );
  const ended = Date.now();
  return {
    cpuMs: cpuMs(stack.workerd) - cpuBefore,
    ms: ended - stack.welcomedAt(),
    wholeMs: ended - began,
    deafMs: probe.longest(),
    ...counted(before, await readSums(stack.worker.url)),
  };
}

/**
 * All agents but the real one drop and return, while questions are asked. @param turn what one question takes, which is
 * not counted as the storm's
 */
async function storm(
  stack: FleetStack,
  probe: Probe,
  agents: number,
  withinMs: number,
  turn: TurnShare,
): Promise<FleetFigures["storm"]> {
  const before = await readSums(stack.worker.url);
  const cpuBefore = cpuMs(stack.workerd);
  probe.longest();
  const began = performance.now();
  let isOver = false;
  const turns: number[] = [];
  let failedTurns = 0;
  const asking = (async () => {
    while (!isOver) {
      const from = performance.now();
      await stack.asker.ask("storm", CALLS).catch(() => {
        failedTurns += 1;
      });
      turns.push(performance.now() - from);
      await sleep(ASK_EVERY_MS);
    }
  })();
  try {
    const dropping = stack.simulator.step("drop");
    await Promise.all([dropping, sleep(RETURN_AFTER_MS)]);
    await stack.simulator.step("birth");
    let frames = -1;
    let quietSince = performance.now();
    const isSettled = async () => {
      const now = (await readSums(stack.worker.url)).Home.messages;
      if (now - frames > FRAMES_OF_TURNS) quietSince = performance.now();
      frames = now;
      return probe.online() === agents && performance.now() - quietSince > QUIET_MS;
    };
    await wait(isSettled, withinMs, "all agents are back", () => `${probe.online()} are`, LOOK_AT_STORM_MS);
    const ms = performance.now() - began - QUIET_MS;
    const sums = counted(before, await readSums(stack.worker.url));
    const cpu = cpuMs(stack.workerd) - cpuBefore;
    isOver = true;
    await asking;
    const slowestTurnMs = Math.max(...turns);
    const asked = turns.length;
    return {
      cpuMs: cpu - asked * turn.cpuMs,
      ms,
      wholeMs: ms,
      deafMs: probe.longest(),
      frames: sums.frames - asked * turn.frames,
      rowsRead: sums.rowsRead - asked * turn.rowsRead,
      rowsWritten: sums.rowsWritten - asked * turn.rowsWritten,
      turns: asked,
      failedTurns,
      slowestTurnMs,
    };
  } finally {
    isOver = true;
  }
}

function counted(before: Sums, after: Sums): Pick<StepFigures, "frames" | "rowsRead" | "rowsWritten"> {
  const { messages, rowsRead, rowsWritten } = sumsBetween(before, after).Home;
  return { frames: messages, rowsRead, rowsWritten };
}

function requestFigures(body: string): FleetFigures["request"] {
  const { tools, messages } = JSON.parse(body) as {
    tools: unknown;
    messages: Array<{ role: string; content: string }>;
  };
  const text = JSON.stringify(tools);
  const system = messages
    .filter(({ role }) => role === "system")
    .map(({ content }) => content)
    .join("\n");
  return {
    toolsBytes: Buffer.byteLength(text),
    systemBytes: Buffer.byteLength(system),
    tokens: textTokens(text) + textTokens(system),
  };
}

async function listed(url: string): Promise<ListFigures> {
  const headers = { authorization: `Bearer ${TOKENS.owner}` };
  const times: number[] = [];
  let bytes = 0;
  for (let round = 0; round < LIST_ROUNDS; round += 1) {
    const from = performance.now();
    bytes = (await (await fetch(url, { headers })).arrayBuffer()).byteLength;
    times.push(performance.now() - from);
  }
  return { bytes, ms: median(times) };
}

/** @throws with `what` when it is not so in time @param state what is the case instead */
async function wait(
  condition: () => boolean | Promise<boolean>,
  withinMs: number,
  what: string,
  state = () => "",
  everyMs = LOOK_EVERY_MS,
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${withinMs / 1_000} s: ${what}; ${state()}`);
    await sleep(everyMs);
  }
}

async function inTime<T>(work: Promise<T>, withinMs: number, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`not within ${withinMs / 1_000} s: ${what}`)),
    withinMs,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
