/** An agent that goes offline is missing in the next edge_call; one that returns is there again without any restart. */
import { describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { Observer, payloadOf } from "./observer.ts";
import { useStack } from "./stack.ts";

/** A broker drops a silent client after 1.5 keepalives of 15 s. */
const FROZEN_GONE_WITHIN_MS = 30_000;
const GONE_WITHIN_MS = 5_000;

const IDS = ["stays", "told", "killed", "frozen", "thawed"];

const stack = useStack({}, async (stack) => {
  await Promise.all(IDS.map((id) => stack.startAgent({ id })));
  await Promise.all(IDS.map((id) => stack.gateway.online(id)));
});

/** Returns what the model is told about the home for a new question. */
async function shownToTheModel(): Promise<{ system: string; edgeCall: string }> {
  const question = script({ text: "seen" });
  await stack.gateway.ask(question);
  const request = stack.model.requests.find(({ messages }) => messages.at(-1)?.content === question);
  return {
    system: String(request?.messages[0]?.content),
    edgeCall: request?.tools[0]?.function.description ?? "no tool",
  };
}

async function expectGoneFromTheModel(id: string): Promise<void> {
  const { system, edgeCall } = await shownToTheModel();
  // The description has only the first of many agents; the system prompt has all.
  expect(`${edgeCall}\n${system}`).toContain("- stays:");
  expect(`${edgeCall}\n${system}`).not.toContain(`- ${id}:`);
  expect(system).toMatch(new RegExp(`offline and cannot be called:[^]*- ${id} \\(last seen \\d+ s ago\\)`));
}

async function expectBack(id: string): Promise<void> {
  await stack.gateway.online(id);
  expect((await stack.gateway.command(id, "ping")).body).toMatchObject({ payload: { pong: true } });
  const { system, edgeCall } = await shownToTheModel();
  expect(`${edgeCall}\n${system}`).toContain(`- ${id}:`);
}

/** A command with a visible effect: it stores a strategy. It has 10.1 s in all, of which the agent has 6.1 s. */
const ADD_STRATEGY = { action: "add_mean_reversion", timeout_ms: 100 };

async function strategiesOf(id: string): Promise<unknown> {
  const { body } = await stack.gateway.command(id, "update_strategy", { action: "get_params" });
  return body.payload?.strategies;
}

describe.concurrent("an agent that", () => {
  test("is stopped (SIGTERM) is offline within 5 s, and back after its start", async () => {
    stack.agent("told").signal("SIGTERM");
    const { reason } = await stack.gateway.offline("told", GONE_WITHIN_MS);
    expect(reason).toBe("shutdown");
    await expectGoneFromTheModel("told");
    expect(await stack.agent("told").gone).toEqual({ code: 0, signal: null });
    await stack.restartAgent("told");
    await expectBack("told");
  });

  test("is killed (SIGKILL) is offline within 5 s, and back after its start", async () => {
    await stack.agent("killed").kill();
    const { reason } = await stack.gateway.offline("killed", GONE_WITHIN_MS);
    expect(reason).toBe("last will");
    await expectGoneFromTheModel("killed");
    const answered = await stack.gateway.ask(
      script({ calls: [{ arguments: { agent_id: "killed", action: "cpu" } }] }, { text: "$results" }),
    );
    expect(answered.calls[0]).toMatchObject({ status: "error", error_type: "offline" });
    expect(answered.answer).toMatch(
      /^Error: Agent 'killed' is not online \(last seen \d+ s ago, last will\)\. Nothing was run\./,
    );
    await stack.restartAgent("killed");
    await expectBack("killed");
  });

  test("is frozen (SIGSTOP) is offline within 30 s; after it continues it is back, and runs none of the waiting commands", async () => {
    stack.agent("frozen").signal("SIGSTOP");
    const waiting = stack.gateway.command("frozen", "update_strategy", ADD_STRATEGY);
    await stack.gateway.offline("frozen", FROZEN_GONE_WITHIN_MS);
    await expectGoneFromTheModel("frozen");
    expect((await waiting).status).toBe(504);
    stack.agent("frozen").signal("SIGCONT");
    await expectBack("frozen");
    expect(await strategiesOf("frozen")).toEqual([]);
  });

  test("is frozen past a call's deadline and continues while it is still connected runs nothing", async () => {
    const observer = await Observer.start(stack.mqttUrl);
    try {
      stack.agent("thawed").signal("SIGSTOP");
      const { status, body } = await stack.gateway.command("thawed", "update_strategy", ADD_STRATEGY);
      expect(status).toBe(504);
      expect(body.error?.message).toMatch(/did not answer/);
      stack.agent("thawed").signal("SIGCONT");

      const [command] = observer.commands("thawed", "update_strategy");
      const report = await observer.answerTo("thawed", command?.body.request_id);
      expect(payloadOf(report.body)).toMatchObject({
        status: "error",
        error_type: "timeout",
        code: "expired",
      });
      expect(await strategiesOf("thawed")).toEqual([]);
      // Shows that the test can fail: the same command in time does have an effect.
      await stack.gateway.command("thawed", "update_strategy", { action: "add_mean_reversion" });
      expect(await strategiesOf("thawed")).toMatchObject([{ strategy: "MeanReversion" }]);
    } finally {
      await observer.stop();
    }
  });

  test("keeps running meanwhile is called as usual", async () => {
    const turn = await stack.gateway.ask(
      script({ calls: [{ arguments: { agent_id: "stays", action: "memory" } }] }, { text: "$results" }),
    );
    expect(turn.answer).toContain("RAM 50% used");
    await until(async () => (await stack.gateway.agent("stays"))?.online);
  });
});

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
