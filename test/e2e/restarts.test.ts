/** Parts of a running home are restarted: every agent and the bridge are there again afterwards. */
import { afterAll, expect, test } from "vitest";
import { STANDBY_EVERY_MS } from "../../bridge/gateway/gateway.ts";
import { PlayedAgent } from "../../bridge/testkit/agent.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { Observer } from "./observer.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  await Promise.all([stack.startAgent({ id: "one" }), stack.startAgent({ id: "two" })]);
  await Promise.all([stack.gateway.online("one"), stack.gateway.online("two")]);
});
const played: PlayedAgent[] = [];
afterAll(() => Promise.all(played.map((agent) => agent.stop())));

const answersPing = (id: string) =>
  until(async () => (await stack.gateway.command(id, "ping")).body.payload?.pong, {
    // More than the longest back-off of an agent and of the bridge, 30 s.
    within: 45_000,
    every: 100,
    what: `${id} answers a ping`,
  });

test("the bridge: while it is away, callers are told at once; after its restart all agents are back", async () => {
  await stack.bridge.kill();
  await stack.gateway.offline("one", 5_000);
  const turn = await stack.gateway.ask(
    script({ calls: [{ arguments: { agent_id: "one", action: "cpu" } }] }, { text: "$results" }),
  );
  expect(turn.calls[0]).toMatchObject({ status: "error", error_type: "offline" });
  expect(turn.calls[0]?.elapsed_ms).toBeLessThan(1_000);
  expect(turn.answer).toContain("the bridge is not connected");

  await stack.startBridge();
  // Its first snapshot contains all agents, without a change at any of them.
  await Promise.all([stack.gateway.online("one", 2_000), stack.gateway.online("two", 2_000)]);
  await answersPing("one");
});

test("a second bridge: the newer one serves, the older one is told and waits to take over", async () => {
  const older = stack.bridge;
  await stack.startBridge("newer");
  const { retry_in_ms } = await older.logged("gateway.standby");
  expect(retry_in_ms).toBe(STANDBY_EVERY_MS);
  await answersPing("one");
  expect(older.running).toBe(true);
  await older.stop();
  await answersPing("two");
});

test("the broker, with an empty memory: agents advertise again, and calls work", async () => {
  await stack.restartBroker();
  await Promise.all([answersPing("one"), answersPing("two")]);
  const observer = await Observer.start(stack.mqttUrl);
  try {
    for (const kind of ["capabilities", "tools", "presence"]) {
      const isRetained = () => observer.of("two", kind).some((one) => one.retained);
      await until(isRetained, { within: 10_000, what: `${kind} is retained again` });
    }
  } finally {
    await observer.stop();
  }
  expect(await stack.gateway.agent("two")).toMatchObject({
    online: true,
    actions: expect.arrayContaining(["cpu"]),
  });
});

test("the gateway, started last: it knows own agents at once, a foreign one at its first heartbeat", async () => {
  const evo = await PlayedAgent.foreign("evo", stack.mqttUrl);
  played.push(evo);
  await stack.gateway.online("evo");
  await stack.worker.stop();
  await stack.bridge.stop();

  const bridge = stack.startBridge();
  await stack.bridge.logged("gateway.down");
  await stack.startWorker({ forget: true });
  await bridge;
  // The bridge is welcomed before its first snapshot is stored.
  await Promise.all([stack.gateway.online("one", 2_000), stack.gateway.online("two", 2_000)]);
  const agents = await stack.gateway.agents();
  expect(agents.filter(({ online }) => online).map(({ id }) => id)).toEqual(["one", "two"]);
  // Its advert is retained, and does not show that it still runs.
  expect(await stack.gateway.agent("evo")).toMatchObject({ online: false, foreign: true });
  await evo.heartbeat();
  await stack.gateway.online("evo", 2_000);
});

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
