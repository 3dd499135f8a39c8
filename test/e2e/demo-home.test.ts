/** The demo home of `npm start -- --demo`, through broker, bridge and Worker: what a first hour shows. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DemoHome, startDemoHome } from "../../local/demo/demo.ts";
import { furnish } from "../../local/demo/furnish.ts";
import { DEVICES, ROOMS } from "../../local/demo/house.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { HomeRules, RULE_VARS } from "./home-rules.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";

const folder = mkdtempSync(join(tmpdir(), "edgecall-demo-home-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Of `GET /v1/devices`, in part. */
type Listed = {
  id: string;
  name: string;
  area: string | null;
  mode: string;
  readings: Array<{ text: string }>;
  actions: Array<{ effect: string; dangerous?: true }>;
};

describe("the demo home", { timeout: 120_000 }, () => {
  const stack = useStack({ vars: RULE_VARS, bridge: { BRIDGE_STATE: folder } });
  const devices = new HostedDevices(stack);
  const rules = new HomeRules(stack);
  let house: DemoHome;

  beforeAll(async () => {
    house = await startDemoHome({ url: stack.mqttUrl, seed: 4 });
    await furnish({ url: stack.gateway.url, token: TOKENS.owner });
  });
  afterAll(() => house?.stop());

  const listed = async () => {
    const { devices } = (await (await stack.gateway.fetch("/v1/devices")).json()) as { devices: Listed[] };
    return new Map(devices.map((device) => [device.name, device]));
  };
  const idOf = async (name: string) => (await listed()).get(name)?.id ?? "";
  const says = async (name: string) => (await listed()).get(name)?.readings.map(({ text }) => text) ?? [];

  test("all devices are agents that are online, with their names, rooms, kinds and values", async () => {
    const agents = new Map((await stack.gateway.agents()).map((agent) => [agent.id, agent]));
    const known = await listed();
    expect([...known.keys()].sort()).toEqual(DEVICES.map(({ name }) => name).sort());
    for (const { name, room, kind } of DEVICES) {
      const device = known.get(name);
      const agent = agents.get(device?.id ?? "");
      // What is only read has nothing to allow, and what may do harm (a pump) asks each time.
      const isAllowed =
        kind !== "lock" && device?.actions.some(({ effect, dangerous }) => effect !== "read" && !dangerous);
      expect.soft(device, name).toMatchObject({ area: room, mode: isAllowed ? "allowed" : "ask" });
      expect.soft(agent, name).toMatchObject({ online: true, capabilities: expect.stringContaining(room) });
    }
    expect(new Set([...known.values()].map(({ area }) => area)).size).toBe(ROOMS.length);
    const lines = ["Kitchen light", "Washing machine", "Blinds", "Front door", "Bathroom fan", "Freezer"].map(
      (name) => agents.get(known.get(name)?.id ?? "")?.capabilities.split(" · ")[0],
    );
    expect(lines).toEqual([
      "light (brightness, colour temperature)",
      expect.stringContaining("switch"),
      "cover (position)",
      "lock",
      "fan (speed)",
      expect.stringContaining("temperature"),
    ]);
    // A device on a battery is heard when it reports by itself.
    await until(async () => (await says("Bedroom window")).includes("open"), { what: "the window's state" });
    expect(await says("Kitchen light")).toEqual(["on", "80 %", "2702 K"]);
    expect(await says("Front door")).toEqual(["locked"]);
    expect(await says("Living room heating")).toEqual(expect.arrayContaining(["heat", "21 °C"]));
    expect(await says("Washing machine")).toContain("180 W");
  });

  test("a light is switched, and its own state confirms it within a moment", async () => {
    const { text, status, reason } = await devices.ask("reading-lamp", "set", {
      on: true,
      brightness_pct: 40,
    });
    expect({ text, status, reason }).toEqual({
      text: expect.stringMatching(/Reading lamp: on, brightness 40 %.*reported 0\.\d s after the command/),
      status: "success",
      reason: undefined,
    });
    expect(house.get("Reading lamp")).toMatchObject({ on: true, brightness: 102 });
  });

  test.each([
    ["ceiling-light", { on: true, brightness_pct: 30 }, /on, brightness 30 %/],
    ["hall-light", { on: true }, /: on/],
    ["bathroom-fan", { on: true, percentage: 100 }, /on, speed 100 %/],
    ["bedroom-heating", { temperature: 19.5 }, /target temperature 19\.5 °C/],
  ])("%s is changed to %j", async (id, parameters, words) => {
    const { text, status } = await devices.ask(id, "set", parameters);
    expect({ text, status }).toEqual({ text: expect.stringMatching(words), status: "success" });
  });

  test("the dead light is not confirmed, in zigbee2mqtt's words", async () => {
    const { text, status } = await devices.ask("bedroom-light", "set", { on: true });
    expect(status).toBe("error");
    expect(text).toMatch(/Sent to Bedroom light; it did not answer\. Zigbee2MQTT: ".*MAC no ack/);
    expect(await says("Bedroom light")).toEqual(["off"]);
  });

  test("the plug that takes its report back is not told as done", async () => {
    const { text, status } = await devices.ask("office-plug", "set", { on: true });
    expect(status).toBe("error");
    expect(text).toMatch(/did not report on\. It reports: off/);
  });

  test("the front door asks before it opens", async () => {
    const conversation = crypto.randomUUID();
    const call = { arguments: { agent_id: "front-door", action: "unlock", params: {} } };
    const turn = await stack.gateway.begin(script({ calls: [call] }, { text: "$results" }), conversation);
    const question = await stack.gateway.question(conversation);
    expect(question.approval?.reason).toMatch(/it is a lock/);
    expect(house.get("Front door").isLocked).toBe(true);
    await stack.gateway.answer(question.id, "approve");
    const { answer } = await stack.gateway.settled(conversation, turn);
    expect(answer).toMatch(/Front door: unlocked/);
  });

  test("a watch speaks when the freezer is left ajar", async () => {
    house.happen("freezer closed");
    house.change("Freezer", { temperature: -18.2 });
    const agent_id = await idOf("Freezer");
    await until(async () => (await says("Freezer")).some((one) => /^-18\./.test(one)), {
      what: "the freezer is cold",
    });
    const limit = { reading: "Temperature", is: "above", value: -15, for_minutes: 0 };
    const [made] = await rules.make("freezer", {
      name: "watch",
      arguments: { name: "Freezer too warm", agent_id, ...limit },
    });
    expect(made).toContain("Freezer");
    house.change("Freezer", { temperature: -14.2 });
    const [told] = await rules.toldCount("freezer", 1);
    expect(told).toMatch(/^🔔 Freezer too warm: −14\.\d °C at \d\d:\d\d \(limit −15 °C\)/);
  });

  test("what a person decided stays when the house is furnished again, as at each start", async () => {
    const decide = (body: object) =>
      stack.gateway.fetch("/v1/devices/desk-lamp", { method: "PATCH", body: JSON.stringify(body) });
    expect((await decide({ name: "Grandma's lamp", area: "Attic", mode: "read" })).status).toBe(200);
    await furnish({ url: stack.gateway.url, token: TOKENS.owner });
    expect((await listed()).get("Grandma's lamp")).toMatchObject({
      id: "desk-lamp",
      area: "Attic",
      mode: "read",
    });
  });

  test("a device that is away says so", async () => {
    house.online("TV", false);
    await stack.gateway.offline("tv");
    house.online("TV", true);
    await stack.gateway.online("tv");
  });
});
