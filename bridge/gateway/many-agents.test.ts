/** A bridge with many agents at a real broker: what it sends to Home, in which portions, and what it leaves out. */

import { type AgentState, TEXT_KINDS } from "@edgecall/core/protocol/frames.ts";
import { AGENTS_MAX, topicOf } from "@edgecall/core/protocol/names.ts";
import { textHash } from "@edgecall/core/protocol/text-hash.ts";
import { connectAsync, type MqttClient } from "mqtt";
import { beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { usePlayed } from "../testkit/played.ts";
import { SNAPSHOT_MAX_AGENTS } from "./snapshot.ts";

const COUNT = 1_000;
const WITHIN_MS = 120_000;

const played = usePlayed();
let client: MqttClient;
beforeEach(async () => {
  client = await connectAsync(played.broker.url, { clientId: "agents", protocolVersion: 4 });
  played.after(() => client.endAsync(true));
});

const idOf = (n: number) => `agent-${n}`;
const birth = JSON.stringify({ state: "online", boot_id: "b1" });
const will = JSON.stringify({ state: "offline", boot_id: "b1", reason: "last will" });
const lineOf = (n: number) =>
  JSON.stringify({ agent_id: idOf(n), capabilities: `${idOf(n)} measures`, features: ["v1"] });
/** 12 KB, as 28 tools have. */
const tools = JSON.stringify({
  hash: "h",
  tools: Array.from({ length: 28 }, (_, n) => ({ name: `tool_${n}`, description: "x".repeat(400) })),
});

async function say(n: number, kind: "capabilities" | "tools" | "presence", text: string): Promise<void> {
  await client.publishAsync(topicOf("evoclaw", idOf(n), kind), text, { qos: 1, retain: true });
}

async function publish(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1)
    await Promise.all([say(n, "capabilities", lineOf(n)), say(n, "tools", tools), say(n, "presence", birth)]);
}

/** All states that Home was sent so far. */
const states = (): AgentState[] =>
  played.home.frames.flatMap((frame) => {
    if (frame.t === "agent") return [frame.agent];
    return frame.t === "snapshot" || frame.t === "agents" ? frame.agents : [];
  });
/** The last state of each agent. */
const told = () => [...new Map(states().map((state) => [state.id, state])).values()];
/** How often each text was sent. */
const texts = () => {
  const counts: Record<string, number> = {};
  for (const state of states())
    for (const kind of TEXT_KINDS) if (state[kind] !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

/** Waits until Home was sent every text, whether or not the broker was done with its retained ones by the snapshot. */
async function allSent(count: number): Promise<void> {
  const isDone = () => TEXT_KINDS.every((kind) => (texts()[kind] ?? 0) >= count);
  await until(isDone, { what: `the texts of ${count} agents`, within: 60_000 });
}

describe("a home of 1,000 agents", () => {
  test(
    "more than the line takes at once: a snapshot waits for it, and no line counts as dead",
    async () => {
      await publish(COUNT);
      // The whole snapshot has 13 MB, more than the bridge takes into its buffer.
      played.start();
      await allSent(COUNT);
      expect(played.home.connections).toBe(1);
      expect(played.log("gateway.stuck")).toBeUndefined();
    },
    WITHIN_MS,
  );

  test(
    "a gateway that has the texts gets none of them again; of one that changed, it gets that text",
    async () => {
      played.home.texts = [];
      await publish(20);
      const bridge = await played.started();
      await allSent(20);
      expect(texts()).toEqual({ capabilities: 20, tools: 20, presence: 20 });
      await bridge.stop();

      const hashes = { tools: await textHash(tools), presence: await textHash(birth) };
      played.home.texts = await Promise.all(
        Array.from({ length: 20 }, async (_, n) => ({
          id: idOf(n),
          ...hashes,
          capabilities: n === 7 ? "another" : await textHash(lineOf(n)),
        })),
      );
      played.home.frames.length = 0;
      await played.started();
      const isNamed = () => told().length === 20 && told().every(({ online }) => online);
      await until(isNamed, { what: "all agents are online" });
      expect(texts()).toEqual({ capabilities: 1 });
      expect(states().filter(({ capabilities }) => capabilities)).toMatchObject([
        { id: idOf(7), capabilities: lineOf(7) },
      ]);
      // What Home lacks after all is sent whole.
      played.home.frames.length = 0;
      played.home.send({ t: "lacks", agents: [idOf(3)] });
      const whole = await until(() => states().find(({ id }) => id === idOf(3)), { what: "the agent" });
      expect(whole).toMatchObject({ capabilities: lineOf(3), tools, presence: birth });
    },
    WITHIN_MS,
  );

  test(
    "that all leave and come back: few frames, each with the last state of many",
    async () => {
      played.home.texts = [];
      await publish(COUNT);
      await played.started();
      await allSent(COUNT);
      played.home.frames.length = 0;
      const began = performance.now();
      for (const text of [will, birth, will, birth])
        await Promise.all(Array.from({ length: COUNT }, (_, n) => say(n, "presence", text)));
      const isBack = () => played.home.of("agents").length > 0 && told().every(({ online }) => online);
      await until(isBack, { what: "all are back" });
      const seconds = (performance.now() - began) / 1_000;
      // Four times a second, each time at most all agents in frames of 64.
      const perSending = Math.ceil(COUNT / SNAPSHOT_MAX_AGENTS);
      expect(played.home.of("agents").length).toBeLessThanOrEqual((4 * seconds + 2) * perSending);
      expect(played.home.of("agent")).toEqual([]);
      // Nothing but the presence is said again.
      expect(Object.keys(texts())).toEqual(["presence"]);
    },
    WITHIN_MS,
  );

  test(
    "an older gateway gets whole texts, and a frame for each change",
    async () => {
      await publish(3);
      await played.started();
      await allSent(3);
      await say(1, "presence", will);
      const { agent } = await played.home.next("agent", ({ agent }) => !agent.online);
      expect(agent).toMatchObject({ id: idOf(1), tools, capabilities: lineOf(1) });
      expect(played.home.of("agents")).toEqual([]);
      expect(states().filter(({ kept }) => kept)).toEqual([]);
    },
    WITHIN_MS,
  );

  test(
    "more agents than a home has: they are counted, and the log says so",
    async () => {
      played.home.texts = [];
      for (let at = 0; at < AGENTS_MAX + 7; at += 500)
        await Promise.all(
          Array.from({ length: Math.min(500, AGENTS_MAX + 7 - at) }, (_, n) =>
            say(at + n, "capabilities", lineOf(at + n)),
          ),
        );
      played.start();
      const over = () =>
        Math.max(...played.home.frames.map((frame) => ("over" in frame ? (frame.over ?? 0) : 0)));
      await until(() => told().length >= AGENTS_MAX && over() > 0, { what: "all agents", within: 60_000 });
      expect([told().length, over()]).toEqual([AGENTS_MAX, 7]);
      expect(played.log("agents.too_many")?.fields).toMatchObject({ max: AGENTS_MAX });
    },
    WITHIN_MS,
  );
});
