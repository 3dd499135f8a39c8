/** The choice of the agent, and its answer to a question that needs several of its tools. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../wait.ts";
import { Observer } from "./observer.ts";
import { useStack } from "./stack.ts";

const stack = useStack({ model: "stand-in" }, async (stack) => {
  await Promise.all([
    stack.startAgent({
      id: "greenhouse-pi",
      capabilities: "greenhouse-pi — climate of the greenhouse: temperature among the tomatoes",
      model: true,
    }),
    stack.startAgent({
      id: "nas",
      capabilities: "nas — the storage box in the cellar: backups, disks, processes",
      model: true,
    }),
  ]);
  const sensor = join(stack.rootOf("greenhouse-pi"), "sys/class/thermal/thermal_zone0/temp");
  writeFileSync(sensor, "23500\n");
  await Promise.all([stack.gateway.online("greenhouse-pi"), stack.gateway.online("nas")]);
});

test("a question that concerns one agent goes only to that one", async () => {
  const observer = await Observer.start(stack.mqttUrl);
  try {
    const climate = await stack.gateway.ask("What is the temperature in the greenhouse?");
    expect(climate.calls).toMatchObject([{ agent: "greenhouse-pi", status: "success" }]);
    expect(climate.answer).toContain("23.5 °C");

    const storage = await stack.gateway.ask("How full are the disks of the storage box?");
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

test("one edge_call for disk usage and the busiest processes uses two tools there and gives one answer", async () => {
  const turn = await stack.gateway.ask("What is the disk usage on nas, and what are its busiest processes?");
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
