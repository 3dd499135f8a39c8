/** The floors: the machine's time for the same hops without any work on the way. */
import { fileURLToPath } from "node:url";
import { until } from "../test/wait.ts";
import { read } from "./agents.ts";
import { startEndpoint } from "./endpoint.ts";
import { connectBroker } from "./floor/broker-client.ts";
import { FLOOR_COMMANDS, type FloorCommand, type FloorReport, floorReports } from "./floor/topics.ts";
import { poster } from "./http.ts";
import type { Work } from "./load.ts";
import type { Processes } from "./processes.ts";
import { startBenchWorker } from "./started.ts";
import { CALLS_OF_A_TURN, conversations, startAsker } from "./turns.ts";

/** As many bytes as a real command and its report, so that size makes no difference between the rows. */
const PAYLOAD = JSON.stringify({ filling: "x".repeat(240) });

const program = (name: string) => fileURLToPath(new URL(`./floor/${name}`, import.meta.url));

export type Floor = { work: Work; stop(): Promise<void> };

/** Floor 2, and the platform's floor: the same hops, with the model's request and the rows that no gateway can leave out. */
export type PathFloor = Floor & { call: Work; turn: Work; workerd: number };

/** (a) An MQTT request and response between this process and the echo. Starts the echo, which (b) needs too. */
export async function startMqttFloor(mqttUrl: string, processes: Processes): Promise<Floor> {
  await processes.start("floor-echo", [process.execPath, program("echo.ts"), mqttUrl]);
  const waiting = new Map<string, () => void>();
  const client = await connectBroker(mqttUrl, (message) => {
    const { id } = JSON.parse(message.toString()) as FloorReport;
    waiting.get(id)?.();
    waiting.delete(id);
  });
  await client.subscribeAsync(floorReports("mqtt"), { qos: 1 });
  const work: Work = (slot) =>
    new Promise((resolve) => {
      const id = `${slot}`;
      const began = performance.now();
      waiting.set(id, () => resolve([performance.now() - began]));
      const command: FloorCommand = { id, asker: "mqtt", payload: PAYLOAD };
      client.publish(FLOOR_COMMANDS, JSON.stringify(command), { qos: 1 });
    });
  await until(() => Promise.race([work(-1), later(200)]), { what: "the echo answers over MQTT" });
  return { work, stop: () => client.endAsync(true) };
}

/** (b) HTTP → Durable Object → Durable Object → WebSocket → Node → MQTT → echo, and back. */
export async function startPathFloor(
  dir: string,
  mqttUrl: string,
  atOnce: number,
  processes: Processes,
): Promise<PathFloor> {
  const endpoint = await startEndpoint();
  const { worker, pid } = await startBenchWorker(dir, "floor", {
    entry: program("worker.ts"),
    config: program("wrangler.toml"),
    vars: { MODEL_URL: endpoint.url },
  });
  const socketUrl = worker.url.replace("http:", "ws:");
  await processes.start("floor-bridge", [process.execPath, program("bridge.ts"), socketUrl, mqttUrl]);
  const { post, close } = poster(worker.url, atOnce);
  const work: Work = async (slot) => {
    const began = performance.now();
    const { status, body } = await post(`/${slot}`, PAYLOAD);
    const took = performance.now() - began;
    if (status !== 200 || body !== PAYLOAD)
      throw new Error(`floor 2 answered ${status}: ${body.slice(0, 200)}`);
    return [took];
  };
  await until(() => Promise.race([work(-1).catch(() => undefined), later(200)]), {
    what: "the floor's bridge answers",
  });
  const asker = startAsker(worker.url, endpoint, atOnce);
  const conversationOf = conversations();
  const run = (slot: number, calls: number) =>
    asker.ask(conversationOf(slot), Array(calls).fill([read("floor")]));
  return {
    work,
    call: async (slot) => (await run(slot, CALLS_OF_A_TURN)).times.calls,
    turn: async (slot) => {
      const { took, times } = await run(slot, 1);
      return [took - times.own];
    },
    workerd: pid,
    async stop() {
      close();
      asker.close();
      await worker.stop();
      await endpoint.close();
    },
  };
}

/** Resolves with undefined after a while: a message before the other side's subscription is lost, and is sent again. */
function later(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms));
}
