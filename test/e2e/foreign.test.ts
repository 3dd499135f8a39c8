/**
 * An agent that speaks only EvoClaw's messages, played by a small MQTT client: no last will, no features, heartbeats on
 * reports, one task at a time, some answers without a request_id.
 */
import { afterAll, describe, expect, test } from "vitest";
import { PlayedAgent } from "../../bridge/testkit/agent.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const played: PlayedAgent[] = [];
afterAll(() => Promise.all(played.map((agent) => agent.stop())));

const stack = useStack(
  { vars: { ALLOW_UNSIGNED_AGENTS: "* deaf evo late pinged slow small twice" } },
  async (stack) => {
    await stack.startAgent({ id: "own" });
    await stack.gateway.online("own");
  },
);

async function foreign(id: string, url = stack.mqttUrl): Promise<PlayedAgent> {
  const agent = await PlayedAgent.foreign(id, url);
  played.push(agent);
  return agent;
}

async function servedForeign(id: string): Promise<PlayedAgent> {
  const agent = await foreign(id);
  await stack.gateway.online(id);
  return agent;
}

/** Waits for the nth command that it received. */
const nth = (agent: PlayedAgent, n: number) =>
  until(() => agent.commands[n], { what: `command ${n} to ${agent.id}` });

const prompt = (agent_id: string, query: string) => ({ calls: [{ arguments: { agent_id, query } }] });

/** An answer as EvoClaw's agent sends it (commands.rs, handle_prompt). */
const answerOf = (agent: PlayedAgent, requestId: string, content: string) =>
  agent.report("result", {
    status: "success",
    content,
    model: "llama",
    agent_id: agent.id,
    request_id: requestId,
    tools_executed: [{ tool: "read_temperature", success: true, result: { celsius: 19 }, error: null }],
    metadata: { input_tokens: 1, output_tokens: 2, elapsed_ms: 3 },
  });

/** An action with 10.1 s, the shortest time that the gateway gives a device. */
const SHORT = { tool: "read_cpu_usage", parameters: {}, timeout_ms: 100 };

/** A call to one of our own agents is answered now, and does not wait for one that is busy for 10 s. */
async function expectOwnAgentIsQuick(): Promise<void> {
  const began = performance.now();
  const { body } = await stack.gateway.command("own", "tool", { tool: "memory", parameters: {} });
  expect(body.payload).toMatchObject({ status: "success" });
  expect(performance.now() - began).toBeLessThan(3_000);
}

describe.concurrent("an EvoClaw agent that", () => {
  test("answers as it should gets only EvoClaw's fields and at most 60 s, and is understood", async () => {
    const evo = await servedForeign("evo");
    const asking = stack.gateway.ask(script(prompt("evo", "How warm is it?"), { text: "It says: $results" }));
    const command = await nth(evo, 0);
    expect(command).toEqual({
      command: "prompt",
      payload: { prompt: "How warm is it?", enable_tools: true },
      request_id: expect.any(String),
    });
    const status = (await (await stack.gateway.fetch("/v1/status")).json()) as {
      calls: Array<{ id: string; since: number; deadline: number }>;
    };
    const call = status.calls.find(({ id }) => id === command.request_id);
    expect((call?.deadline ?? 0) - (call?.since ?? 0)).toBe(60_000);

    await answerOf(evo, command.request_id, "19 degrees");
    const turn = await asking;
    expect(turn.answer).toBe("It says: 19 degrees");
    expect(turn.calls[0]?.calls).toMatchObject([{ name: "read_temperature", status: "success" }]);
  });

  test("answers twice has only its first answer counted", async () => {
    const twice = await servedForeign("twice");
    const one = stack.gateway.ask(script(prompt("twice", "one"), { text: "$results" }));
    const first = await nth(twice, 0);
    await answerOf(twice, first.request_id, "first");
    await answerOf(twice, first.request_id, "first again");
    expect((await one).answer).toBe("first");

    const two = stack.gateway.ask(script(prompt("twice", "two"), { text: "$results" }));
    const second = await nth(twice, 1);
    // It is not taken for the answer to the present question.
    await answerOf(twice, first.request_id, "and once more");
    await answerOf(twice, second.request_id, "second");
    expect((await two).answer).toBe("second");
    expect(twice.commands).toHaveLength(2);
  });

  test("answers a ping without a request_id is understood", async () => {
    const pinged = await servedForeign("pinged");
    const pinging = stack.gateway.command("pinged", "ping");
    await nth(pinged, 0);
    await pinged.report("result", { pong: true });
    expect((await pinging).body).toMatchObject({ report_type: "result", payload: { pong: true } });
  });

  test("is silent while it works gets one call at a time, and delays no other agent", async () => {
    const slow = await servedForeign("slow");
    const answered: string[] = [];
    const ask = async (name: string) => {
      const turn = await stack.gateway.ask(script(prompt("slow", name), { text: "$results" }));
      answered.push(name);
      return turn;
    };
    const first = ask("first");
    const one = await nth(slow, 0);
    const second = ask("second");
    const isQueued = async () => (await stack.gateway.agent("slow"))?.counts.open === 2;
    await until(isQueued, { what: "the second call is at the home" });
    await expectOwnAgentIsQuick();
    expect(slow.commands).toHaveLength(1);
    expect(answered).toEqual([]);

    await answerOf(slow, one.request_id, "done: first");
    expect((await first).answer).toBe("done: first");
    const two = await nth(slow, 1);
    await answerOf(slow, two.request_id, "done: second");
    expect((await second).answer).toBe("done: second");
  });

  test("never answers: the caller is told in time, and the agent counts as deaf until it answers a probe", async () => {
    const deaf = await servedForeign("deaf");
    const asking = stack.gateway.command("deaf", "tool", SHORT);
    await nth(deaf, 0);
    await expectOwnAgentIsQuick();
    // Heartbeats continue, so it is deaf and not busy.
    const beating = setInterval(() => void deaf.heartbeat(), 500);
    try {
      expect(await stack.gateway.offline("deaf", 15_000)).toMatchObject({
        reason: expect.stringContaining("it sends heartbeats but did not answer a call in its time"),
      });
      const { status, body } = await asking;
      expect(status).toBe(504);
      expect(body.error).toMatchObject({ code: "outcome_unknown" });
      const turn = await stack.gateway.ask(script(prompt("deaf", "Hello?"), { text: "$results" }));
      expect(turn.calls[0]).toMatchObject({ status: "error", error_type: "offline" });

      const probe = await until(() => deaf.commands.find(({ command }) => command === "ping"), {
        // The first one goes 10 s after it went deaf.
        within: 30_000,
        what: "a probe",
      });
      expect(probe.request_id).toMatch(/^probe-/);
      // Nothing was sent again in between.
      expect(deaf.commands.map(({ command }) => command)).toEqual(["tool", "ping"]);
      await deaf.report("result", { pong: true });
      await stack.gateway.online("deaf", 2_000);
    } finally {
      clearInterval(beating);
    }
  });

  test("answers after the time limit is used as before", async () => {
    const late = await servedForeign("late");
    const { status } = await stack.gateway.command("late", "tool", SHORT);
    expect(status).toBe(504);
    const first = await nth(late, 0);
    await answerOf(late, first.request_id, "too late");
    const asking = stack.gateway.ask(script(prompt("late", "And now?"), { text: "$results" }));
    const second = await nth(late, 1);
    expect(second.payload).toMatchObject({ prompt: "And now?" });
    await answerOf(late, second.request_id, "in time");
    expect((await asking).answer).toBe("in time");
    expect(late.commands).toHaveLength(2);
  });

  test("would break at a large packet gets none over 9 KiB, and the model is told why", async () => {
    const small = await servedForeign("small");
    const sizes: number[] = [];
    small.client.on("message", (_topic, payload) => sizes.push(payload.length));
    const asking = stack.gateway.ask(
      script(prompt("small", "x".repeat(10_000)), prompt("small", "x".repeat(9_000)), { text: "$results" }),
    );
    const command = await nth(small, 0);
    await answerOf(small, command.request_id, "fits");
    const turn = await asking;
    expect(turn.answer).toMatch(/ \| fits$/);
    expect(turn.calls[0]).toMatchObject({
      status: "error",
      error_type: "invalid_params",
      error: expect.stringMatching(/has 10\d\d\d bytes, and small takes 9216/),
    });
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeLessThanOrEqual(9 * 1024);
  });
});

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});

describe("ALLOW_UNSIGNED_AGENTS names one of two", () => {
  const strict = useStack({ vars: { ALLOW_UNSIGNED_AGENTS: "named" } });

  test("only that one is listed; the other is unknown and gets nothing", async () => {
    const named = await foreign("named", strict.mqttUrl);
    const other = await foreign("other", strict.mqttUrl);
    await strict.gateway.online("named");
    await until(async () => (await strict.gateway.unsigned()).some(({ agent }) => agent === "other"));
    expect((await strict.gateway.agents()).map(({ id }) => id)).toEqual(["named"]);

    const asking = strict.gateway.ask(
      script(prompt("other", "Are you there?"), prompt("named", "And you?"), { text: "$results" }),
    );
    const command = await nth(named, 0);
    await answerOf(named, command.request_id, "I am");
    const turn = await asking;
    expect(turn.calls).toMatchObject([{ status: "error", error_type: "not_found" }, { status: "success" }]);
    expect((await strict.gateway.command("other", "ping")).status).toBe(404);
    expect(other.commands).toEqual([]);
    expect(JSON.stringify(strict.model.requests[0]?.tools)).not.toContain("other");
  });
});
