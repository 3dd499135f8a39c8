/** Plain sentences through the whole stack without any model: broker, bridge, gateway, and devices that answer, lie or are dead. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAsync, type MqttClient } from "mqtt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../wait.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";

const stack = useStack({
  bridge: { STATE_DIRECTORY: mkdtempSync(join(tmpdir(), "edgecall-bridge-")) },
  vars: {
    LLM_BASE_URL: "",
    LLM_MODEL: "",
    LLM_API_KEY: "",
    GATEWAY_TOOLS: "rules",
    TIMEZONE: "Europe/Berlin",
  },
});

const LAMPS = ["kitchen-light", "counter-light", "dead-light"];
let client: MqttClient;

beforeAll(async () => {
  client = await connectAsync(stack.mqttUrl);
  client.on("message", (topic, payload) => {
    const [, id = ""] = topic.split("/");
    if (id !== "dead-light") void client.publishAsync(`home/${id}/on`, String(payload), { retain: true });
  });
  await client.subscribeAsync("home/+/set");
  for (const id of LAMPS) {
    const name = `${id.charAt(0).toUpperCase()}${id.slice(1).replace("-", " ")}`;
    const device = { identifiers: [id], name, suggested_area: "Kitchen" };
    const config = {
      unique_id: id,
      name: null,
      device,
      command_topic: `home/${id}/set`,
      state_topic: `home/${id}/on`,
    };
    await client.publishAsync(`homeassistant/light/${id}/config`, JSON.stringify(config), { retain: true });
    await client.publishAsync(`home/${id}/on`, "ON", { retain: true });
  }
  const device = { identifiers: ["freezer"], name: "Freezer" };
  const config = {
    unique_id: "freezer",
    name: null,
    device,
    state_topic: "home/freezer",
    device_class: "temperature",
    unit_of_measurement: "°C",
  };
  await client.publishAsync("homeassistant/sensor/freezer/config", JSON.stringify(config), { retain: true });
  await client.publishAsync("home/freezer", "-18.4", { retain: true });
  const devices = new HostedDevices(stack);
  await devices.known([...LAMPS, "freezer"]);
  for (const device of await devices.list()) if (LAMPS.includes(device.id)) await devices.allow(device);
}, 90_000);
afterAll(() => client.endAsync(true));

async function said(text: string, conversation?: string): Promise<string> {
  const { answer, status, ...turn } = await stack.gateway.ask(text, conversation);
  expect(turn, text).toMatchObject({ usage: { input_tokens: 0, output_tokens: 0 } });
  return status === "done" || status === "failed" ? (answer ?? "") : status;
}

test("a command is done when the device says so, and the next sentence knows what it was about", async () => {
  const conversation = crypto.randomUUID();
  expect(await said("turn off the kitchen light", conversation)).toBe("Kitchen light: off.");
  expect(await said("is the kitchen light on?", conversation)).toMatch(/^No\. Kitchen light: off/);
  expect(await said("turn it on", conversation)).toBe("Kitchen light: on.");
});

test("a light that is dead is not confirmed", async () => {
  expect(await said("turn off the dead light")).toBe("Dead light: sent, but not confirmed.");
}, 60_000);

test("a question is answered from what was reported", async () => {
  expect(await said("how warm is the freezer?")).toMatch(/^Freezer: −18\.4 °C/);
});

test("a watch tells when it is so", async () => {
  const conversation = crypto.randomUUID();
  const made = await said("tell me when the counter light is off", conversation);
  expect(made).toContain("Watching");
  await client.publishAsync("home/counter-light/on", "OFF", { retain: true });
  const fired = async () => JSON.stringify(await stack.gateway.turns(conversation)).includes("off at");
  await until(fired, { within: 60_000, every: 500, what: "the watch fires" });
}, 90_000);

test("what is not understood is said with sentences that work", async () => {
  const answer = await said("turn off the flumbox");
  expect(answer).toContain("flumbox");
  const examples = answer.split("\n").flatMap((line) => (line.startsWith("• ") ? line.slice(2) : []));
  expect(examples).toHaveLength(3);
  for (const example of examples.slice(0, 2))
    expect((await stack.gateway.ask(example)).status, example).toBe("done");
}, 60_000);
