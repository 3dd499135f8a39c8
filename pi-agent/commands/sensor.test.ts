import { z } from "@edgecall/core/protocol/parse.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Served, serve } from "../testing/served.ts";
import { probe } from "../testing/tools.ts";

let served: Served;
const list = probe("gpio_list");
const pin = probe("gpio_read", { input: z.strictObject({ pin: z.int() }) });
beforeAll(async () => {
  served = await serve();
  await served.start(
    { agentId: "wired", policy: new Map([["cpu", "deny"]]) },
    { tools: [list.tool, pin.tool] },
  );
});
afterAll(async () => await served.stop());

const sensor = async (payload: Record<string, unknown>) => (await served.ask("sensor", payload)).payload;
const wired = async (payload: Record<string, unknown>) =>
  (await served.peer.ask("wired", { command: "sensor", payload, request_id: served.nextId() })).payload;

test("one reading, by EvoClaw's name or its short form", async () => {
  const reading = {
    sensor: "temperature",
    success: true,
    data: { sensors: [{ name: "cpu-thermal", celsius: 48.312 }], text: "cpu-thermal: 48.3 °C" },
    error: null,
  };
  for (const type of ["temperature", "temp"]) {
    expect(await sensor({ type })).toEqual({ ...reading, request_id: served.lastId() });
  }
});

test("all: EvoClaw's five", async () => {
  const all = await sensor({});
  expect(Object.keys(all.data as object)).toEqual(["temperature", "cpu", "memory", "disk", "system"]);
  expect(all).not.toHaveProperty("success");
});

test("more than EvoClaw's: the network, processes, pins; other fields go to the tool", async () => {
  expect(await sensor({ type: "network" })).toMatchObject({ sensor: "network", success: true });
  expect(await sensor({ type: "processes", limit: 1, request_id: "x" })).toMatchObject({
    success: true,
    data: { text: expect.stringContaining("the 1 with the most") },
  });
  expect(await sensor({ type: "disk", path: 7 })).toMatchObject({
    success: false,
    error: expect.stringContaining("Invalid parameters for 'disk'"),
  });
  expect(await wired({ type: "gpio" })).toMatchObject({ success: true, data: { text: "gpio_list ran" } });
  expect(await wired({ type: "gpio", pin: 17 })).toMatchObject({ data: { text: "gpio_read ran" } });
});

test("a missing sensor is reported; an unknown one gets the list of the known ones", async () => {
  expect(await sensor({ type: "gpio" })).toMatchObject({
    sensor: "gpio",
    success: false,
    data: null,
    error: expect.stringMatching(/^Error: The sensor 'gpio' cannot be read on this device/),
  });
  expect((await sensor({ type: "smell" })).error).toMatch(
    /^unknown sensor type: smell\. Available: temperature, cpu, memory, disk, system, network, processes.*, all$/,
  );
  expect((await sensor({ type: 7 })).error).toContain("unknown sensor type: 7");
});

test("the policy applies here too", async () => {
  expect(await wired({ type: "cpu" })).toMatchObject({
    success: false,
    // As for any failure: the whole text, and the model's part of it.
    error: expect.stringMatching(
      /^Error: Permission denied for tool 'cpu'.*\nThis agent does not have .* to the user\.$/,
    ),
    advice: expect.stringMatching(/^This agent does not have/),
  });
});
