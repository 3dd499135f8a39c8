/** A command that is delivered repeatedly is run once, also when the agent restarts in between. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../wait.ts";
import { Observer, payloadOf } from "./observer.ts";
import { useStack } from "./stack.ts";

// Without keys, because a run refuses signed commands that were made for an earlier run (stolen-broker.test.ts).
const stack = useStack({ vars: { ALLOW_UNSIGNED_AGENTS: "*" } }, async (stack) => {
  await stack.startAgent({ id: "pi", unsigned: true });
  await stack.startAgent({ id: "mortal", unsigned: true, top: { allow_shutdown: true } });
  await Promise.all([stack.gateway.online("pi"), stack.gateway.online("mortal")]);
});
let observer: Observer;
beforeAll(async () => {
  observer = await Observer.start(stack.mqttUrl);
});
afterAll(() => observer.stop());

/** Delivers a command's bytes again, as a broker may with QoS 1. */
const deliverAgain = (agent: string, text: string) =>
  observer.client.publishAsync(`evoclaw/agents/${agent}/commands`, text, { qos: 1 });

test("a tool runs once, and each delivery is answered with the same report", async () => {
  const { body } = await stack.gateway.command("pi", "tool", { tool: "memory", parameters: {} });
  const id = body.request_id;
  const command = await until(() => observer.commands("pi", "tool")[0]);
  expect(command.body.request_id).toBe(id);

  await deliverAgain("pi", command.text);
  await until(() => observer.answersTo("pi", id).length === 2);
  // A result whose ack is not in the ledger would be sent once more by the next run.
  const ledger = join(stack.workspaceOf("pi"), "../pi.state/ledger.jsonl");
  const acked = { t: "acked", id };
  await until(() => readFileSync(ledger, "utf8").includes(JSON.stringify(acked).slice(0, -1)), {
    what: "the ack in the ledger",
  });
  await stack.agent("pi").kill();
  await stack.restartAgent("pi");
  await deliverAgain("pi", command.text);
  await until(() => observer.answersTo("pi", id).length === 3);

  const reports = observer.answersTo("pi", id).map(({ text }) => text);
  expect(new Set(reports).size).toBe(1);
  // The log of its second run shows that only the new command was run.
  await stack.gateway.online("pi");
  const fresh = await stack.gateway.command("pi", "tool", { tool: "memory", parameters: {} });
  expect(fresh.status).toBe(200);
  await stack.agent("pi").logged("tool.start", (line) => line.request_id === fresh.body.request_id);
  expect(stack.agent("pi").events("tool.start")).toHaveLength(1);
});

test("a shutdown that is delivered again does not end the next run", async () => {
  const mortal = stack.agent("mortal");
  const { body } = await stack.gateway.command("mortal", "shutdown");
  expect(body.payload).toMatchObject({ status: "shutting_down" });
  expect(await mortal.gone).toEqual({ code: 0, signal: null });
  await stack.gateway.offline("mortal", 5_000);

  await stack.restartAgent("mortal");
  const [command] = observer.commands("mortal", "shutdown");
  await deliverAgain("mortal", command?.text ?? "");
  const answers = await until(() => {
    const all = observer.answersTo("mortal", body.request_id);
    return all.length > 1 && all;
  });
  expect(payloadOf(answers.at(-1)?.body ?? {})).toMatchObject({ status: "shutting_down" });
  await stack.gateway.online("mortal");
  expect((await stack.gateway.command("mortal", "ping")).body).toMatchObject({ payload: { pong: true } });
  expect(stack.agent("mortal").running).toBe(true);
});
