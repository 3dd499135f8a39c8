/** The processor time of other processes. Unlike wall time, it hardly depends on the machine's other work. */
import { cpuMs } from "../test/cpu-ms.ts";
import type { PathFloor } from "./floors.ts";
import { load, type Work } from "./load.ts";
import type { Path } from "./path.ts";
import { LEVELS } from "./rounds.ts";
import { median } from "./stats.ts";

/** Enough that no process sleeps long between two calls, and few enough that no call waits in a long queue. */
const AT_ONCE = 8;

/** Milliseconds of processor time that one call takes in each process, including the turn around it. */
export type CpuFigures = Record<keyof Path["pids"], number> & { among: ManyAtOnce };

/** Milliseconds of workerd's processor time of a call and of a turn, and of the platform's floor of each. */
type ManyAtOnce = { atOnce: number; call: number; turn: number; floorCall: number; floorTurn: number };

/** The four take turns, so that drift of a shared machine affects all alike. */
const ALTERNATIONS = 3;

export async function measureCpu(path: Path, floor: PathFloor, forMs: number): Promise<CpuFigures> {
  let calls = 0;
  const spent = await cpuDuring(path.pids, async () => {
    calls = (await load(path.call, AT_ONCE, forMs)).samples;
  });
  const among = await manyAtOnce(path, floor, forMs / ALTERNATIONS);
  return { workerd: spent.workerd / calls, bridge: spent.bridge / calls, agent: spent.agent / calls, among };
}

async function manyAtOnce(path: Path, floor: PathFloor, forMs: number): Promise<ManyAtOnce> {
  const atOnce = Math.max(...LEVELS);
  const { workerd } = path.pids;
  const taken = newSamples();
  for (let n = 0; n < ALTERNATIONS; n += 1) {
    taken.floorCall.push(await eachOf(floor.call, atOnce, forMs, floor.workerd));
    taken.call.push(await eachOf(path.call, atOnce, forMs, workerd));
    taken.floorTurn.push(await eachOf(floor.turn, atOnce, forMs, floor.workerd));
    taken.turn.push(await eachOf(path.turn, atOnce, forMs, workerd));
  }
  return {
    atOnce,
    call: median(taken.call),
    turn: median(taken.turn),
    floorCall: median(taken.floorCall),
    floorTurn: median(taken.floorTurn),
  };
}

function newSamples(): Record<"call" | "turn" | "floorCall" | "floorTurn", number[]> {
  return { call: [], turn: [], floorCall: [], floorTurn: [] };
}

/** @returns what one operation takes of a process */
async function eachOf(work: Work, atOnce: number, forMs: number, pid: number): Promise<number> {
  let operations = 0;
  const spent = await cpuDuring({ pid }, async () => {
    operations = (await load(work, atOnce, forMs)).samples;
  });
  return spent.pid / operations;
}

/** Returns the milliseconds that each process spends while `work` runs. */
async function cpuDuring<Name extends string>(
  pids: Readonly<Record<Name, number>>,
  work: () => Promise<unknown>,
): Promise<Record<Name, number>> {
  const read = () =>
    Object.fromEntries(Object.entries<number>(pids).map(([name, pid]) => [name, cpuMs(pid)])) as Record<
      Name,
      number
    >;
  const before = read();
  await work();
  const after = read();
  for (const name in after) after[name] -= before[name];
  return after;
}
