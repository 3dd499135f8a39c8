/** The time from the agent's start to its first advert of tools, in alternation with an earlier version. */

import { cpuMs } from "../../test/cpu-ms.ts";
import { until } from "../../test/wait.ts";
import { writeAgentConfig } from "../agents.ts";
import type { Caller } from "../caller.ts";
import type { Processes } from "../processes.ts";
import { median } from "../stats.ts";
import { spreadOf } from "./pairs.ts";

export type StartUp = {
  name: string;
  /** Milliseconds from the start of the process to its advert at the broker, median. */
  wall: number;
  /** Milliseconds of the agent's own processor time until then, median. */
  cpu: number;
  /** The distance of the quartiles of `wall` divided by its median. */
  spread: number;
  rounds: number;
};

export async function measureStartUp(
  dir: string,
  { mqttUrl, caller, processes }: { mqttUrl: string; caller: Caller; processes: Processes },
  programs: ReadonlyMap<string, string>,
  rounds: number,
): Promise<StartUp[]> {
  const took = [...programs].map(([name, program]) => ({
    name,
    program,
    wall: [] as number[],
    cpu: [] as number[],
  }));
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, one] of took.entries()) {
      const id = `start-${at}-${round}`;
      const config = writeAgentConfig(dir, mqttUrl, id);
      const began = performance.now();
      const { pid } = await processes.start(id, [process.execPath, one.program, "--config", config]);
      await until(() => caller.advertised.has(id), { within: 30_000, every: 1, what: `${id} advertises` });
      one.wall.push((caller.advertised.get(id) ?? Number.NaN) - began);
      one.cpu.push(cpuMs(pid));
      await processes.end(id);
    }
  }
  return took.map(({ name, wall, cpu }) => ({
    name,
    wall: median(wall),
    cpu: median(cpu),
    spread: spreadOf(wall),
    rounds,
  }));
}
