/** The whole path over a real Mosquitto: MQTT 5, last wills, and what it stores over a restart. */
import { afterAll, describe, expect, test } from "vitest";
import { PlayedAgent } from "../../bridge/testkit/agent.ts";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { npmStart, useStateFolder } from "./npm-start.ts";
import { Observer } from "./observer.ts";
import { useStack } from "./stack.ts";

const mosquitto = findMosquitto();

describe("with Mosquitto", { tags: ["needs/mosquitto"] }, () => {
  const stack = useStack({ mosquitto }, async (stack) => {
    await Promise.all([stack.startAgent({ id: "pi", model: true }), stack.startAgent({ id: "zero" })]);
    await Promise.all([stack.gateway.online("pi"), stack.gateway.online("zero")]);
  });
  const folder = useStateFolder();
  const played: PlayedAgent[] = [];
  afterAll(() => Promise.all(played.map((agent) => agent.stop())));

  test("a turn through the device's own loop", async () => {
    const query = script({ calls: [{ name: "memory", arguments: {} }] }, { text: "$results" });
    const turn = await stack.gateway.ask(
      script({ calls: [{ arguments: { agent_id: "pi", query } }] }, { text: "It has $results" }),
    );
    expect(turn.answer).toMatch(/^It has RAM 50% used/);
    expect(turn.calls[0]?.calls).toMatchObject([{ name: "memory", status: "success" }]);
    expect(stack.bridge.events("broker.up")).toMatchObject([{ mqtt: 5 }]);
  });

  test("a killed agent is offline by its last will, within 5 s, and back after its start", async () => {
    await stack.agent("zero").kill();
    expect(await stack.gateway.offline("zero", 5_000)).toMatchObject({ reason: "last will" });
    await stack.restartAgent("zero");
    await stack.gateway.online("zero");
  });

  test("a call to an agent that is reported as online but does not listen is answered at once", async () => {
    const ghost = await PlayedAgent.own("ghost", stack.mqttUrl);
    played.push(ghost);
    await stack.gateway.online("ghost");
    await ghost.client.unsubscribeAsync("evoclaw/agents/ghost/commands");
    const began = performance.now();
    const { status, body } = await stack.gateway.command("ghost", "ping");
    expect(performance.now() - began).toBeLessThan(3_000);
    expect(status).toBe(409);
    expect(body.error?.message).toContain("nobody listens on ghost's commands");
    expect(ghost.commands).toEqual([]);
  });

  test("after a restart of the broker calls work again", async () => {
    await stack.restartBroker();
    const answers = async () => (await stack.gateway.command("pi", "ping")).body.payload?.pong;
    await until(answers, { within: 20_000, every: 100, what: "pi answers a ping" });
    await until(async () => (await stack.gateway.command("zero", "ping")).body.payload?.pong, {
      within: 20_000,
      every: 100,
      what: "zero answers a ping",
    });
  });

  test("npm start uses MQTT_URL and LLM_BASE_URL instead of its own parts", async () => {
    const observer = await Observer.start(stack.mqttUrl);
    try {
      const asked = npmStart(folder.path, ["--ask", script({ text: "asked and answered" })], {
        MQTT_URL: stack.mqttUrl,
        LLM_BASE_URL: stack.model.url,
        LLM_MODEL: "scripted",
      });
      expect(await asked.code, asked.err()).toBe(0);
      expect(asked.out()).toBe("asked and answered\n");
      expect(asked.err()).toContain(`model: scripted at ${stack.model.url}`);
      const others = observer.seen.filter(({ agent }) => !["pi", "zero", "ghost"].includes(agent));
      expect(others.map(({ body }) => body.state)).toEqual(expect.arrayContaining(["online", "offline"]));
    } finally {
      await observer.stop();
    }
  });

  test("every history that the model received is valid", () => {
    expect(stack.model.breaches).toEqual([]);
  });
});
