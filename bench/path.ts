/** Our own path: Worker, bridge and agent as they are released, used over HTTP with a scripted model. */
import { testVars } from "../test/tokens.ts";
import { until } from "../test/wait.ts";
import { areOnline, enrolAgents, read, startBenchAgent, startWaitingAgent, waits } from "./agents.ts";
import { type ModelCall, startEndpoint } from "./endpoint.ts";
import type { Work } from "./load.ts";
import type { Processes } from "./processes.ts";
import { startBenchBridge, startBenchWorker } from "./started.ts";
import { CALLS_OF_A_TURN, conversations, startAsker } from "./turns.ts";

export type Path = {
  /** (c) From the last byte of a reply with a call to the first byte of the next request. */
  call: Work;
  /** (d) A whole turn with one call over HTTP, without the model's own time. */
  turn: Work;
  /**
   * Returns the milliseconds of a whole turn with these batches of calls, each of a tool that takes `BATCH_TOOL_MS`.
   */
  batches(sizes: readonly number[]): Promise<number>;
  /** The processes that a call passes through. */
  pids: Record<"workerd" | "bridge" | "agent", number>;
  stop(): Promise<void>;
};

export const BATCH_TOOL_MS = 200;
const BENCH_AGENT = "bench";
const WAITING_AGENT = "waits";

export async function startPath(
  dir: string,
  mqttUrl: string,
  atOnce: number,
  processes: Processes,
): Promise<Path> {
  const endpoint = await startEndpoint();
  const vars = { ...testVars, LLM_BASE_URL: endpoint.url, LLM_MODEL: "bench" };
  const { worker, pid: workerd } = await startBenchWorker(dir, "worker", { vars });
  const bridged = await startBenchBridge(dir, processes, { gatewayUrl: worker.url, mqttUrl });
  await enrolAgents(worker.url, dir, [BENCH_AGENT, WAITING_AGENT]);
  const agent = await startBenchAgent(dir, mqttUrl, BENCH_AGENT, processes);
  await startWaitingAgent(dir, mqttUrl, WAITING_AGENT, processes);
  await until(() => areOnline(worker.url, [BENCH_AGENT, WAITING_AGENT]), {
    within: 15_000,
    what: "the bench's agents are online",
  });

  const asker = startAsker(worker.url, endpoint, atOnce);
  const conversationOf = conversations();
  const run = (slot: number, batches: ModelCall[][]) => asker.ask(conversationOf(slot), batches);

  return {
    call: async (slot) => (await run(slot, Array(CALLS_OF_A_TURN).fill([read(BENCH_AGENT)]))).times.calls,
    turn: async (slot) => {
      const { took, times } = await run(slot, [[read(BENCH_AGENT)]]);
      return [took - times.own];
    },
    async batches(sizes) {
      // Equal calls of one reply would run once.
      const batch = (size: number) =>
        Array.from({ length: size }, (_, at) => waits(WAITING_AGENT, BATCH_TOOL_MS, `c${at}`));
      const { took, times } = await run(0, sizes.map(batch));
      return took - times.own;
    },
    pids: { workerd, bridge: bridged.pid, agent: agent.pid },
    async stop() {
      asker.close();
      await worker.stop();
      await endpoint.close();
    },
  };
}
