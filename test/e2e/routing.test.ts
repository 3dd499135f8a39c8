/** The choice of the agent, by a model and without one, and its answer to a question that needs several of its tools. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { RESULTS } from "./edge-calls.ts";
import { Observer } from "./observer.ts";
import { useStack } from "./stack.ts";

const CAPABILITIES = {
  "greenhouse-pi": "greenhouse-pi — climate of the greenhouse: temperature among the tomatoes",
  nas: "nas — the storage box in the cellar: backups, disks, processes",
};
const stack = useStack({}, async (stack) => {
  await Promise.all(
    Object.entries(CAPABILITIES).map(([id, capabilities]) =>
      stack.startAgent({ id, capabilities, model: true }),
    ),
  );
  const sensor = join(stack.rootOf("greenhouse-pi"), "sys/class/thermal/thermal_zone0/temp");
  writeFileSync(sensor, "23500\n");
  await Promise.all([stack.gateway.online("greenhouse-pi"), stack.gateway.online("nas")]);
});

/** The gateway's model asks one agent in these words, and the agent's own model calls its tools. */
function ask(words: string, agent_id: keyof typeof CAPABILITIES, ...tools: string[]) {
  const calls = tools.map((name) => ({ name, arguments: {} }));
  const query = `${words}\n${script({ calls }, RESULTS)}`;
  return stack.gateway.ask(`${words}\n${script({ calls: [{ arguments: { agent_id, query } }] }, RESULTS)}`);
}

test("a question that concerns one agent goes only to that one", async () => {
  const observer = await Observer.start(stack.mqttUrl);
  try {
    const climate = await ask("What is the temperature in the greenhouse?", "greenhouse-pi", "temperature");
    // What the model chooses by.
    const [first] = stack.model.requests;
    for (const line of Object.values(CAPABILITIES))
      expect(JSON.stringify([first?.messages, first?.tools])).toContain(line);
    expect(climate.calls).toMatchObject([{ agent: "greenhouse-pi", status: "success" }]);
    expect(climate.answer).toContain("23.5 °C");

    const storage = await ask("How full are the disks of the storage box?", "nas", "disk");
    expect(storage.calls).toMatchObject([{ agent: "nas", status: "success" }]);
    expect(storage.answer).toMatch(/\d+% used/);
    // The broker keeps the order, so an earlier message to the wrong agent would have arrived by now.
    await until(() => observer.commands("nas", "prompt").length > 0);
    expect(observer.of("nas", "commands")[0]?.text).toContain("disks");
    expect(observer.commands("nas", "prompt")).toHaveLength(1);
    expect(observer.commands("greenhouse-pi", "prompt")).toHaveLength(1);
  } finally {
    await observer.stop();
  }
});

test("a plain sentence goes to the agent that it names, and to no model", async () => {
  const observer = await Observer.start(stack.mqttUrl);
  const asked = stack.model.requests.length;
  try {
    const climate = await stack.gateway.ask("What is the temperature of greenhouse-pi?");
    expect(climate.calls).toMatchObject([{ agent: "greenhouse-pi", status: "success" }]);
    expect(climate.answer).toContain("23.5 °C");
    const storage = await stack.gateway.ask("How full is the disk of nas?");
    expect(storage.calls).toMatchObject([{ agent: "nas", status: "success" }]);
    expect(storage.answer).toMatch(/\d+ % used/);
    await until(() => observer.commands("nas", "tool").length > 0);
    expect(observer.commands("nas", "tool")).toHaveLength(1);
    expect(observer.commands("greenhouse-pi", "tool")).toHaveLength(1);
    expect(stack.model.requests).toHaveLength(asked);
  } finally {
    await observer.stop();
  }
});

test("one edge_call for disk usage and the busiest processes uses two tools there and gives one answer", async () => {
  const words = "What is the disk usage on nas, and what are its busiest processes?";
  const turn = await ask(words, "nas", "disk", "list_processes");
  expect(turn.calls).toMatchObject([
    {
      name: "edge_call",
      agent: "nas",
      status: "success",
      calls: [
        { name: expect.stringMatching(/^(disk|list_processes)$/), status: "success" },
        { name: expect.stringMatching(/^(disk|list_processes)$/), status: "success" },
      ],
    },
  ]);
  const inner = turn.calls[0]?.calls ?? [];
  expect(inner.map(({ name }) => name).sort()).toEqual(["disk", "list_processes"]);
  expect(turn.answer).toMatch(/\d+% used/);
  expect(turn.answer).toContain("systemd");
});
