/** An allowance of 0.3 covers less than one of today: the owners are told once which devices ask again. */
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { PlayedPublisher } from "../../bridge/testkit/publisher.ts";
import { FakeTelegram } from "../platforms/telegram.ts";
import { startScriptedModel } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { KeptHome } from "./kept-home.ts";
import { changeRows } from "./stored-rows.ts";

const ASKS_AGAIN = "so they ask again before they are changed: ";
/** The bridge's other devices are waited for, for a minute. */
const TOLD_WITHIN_MS = 120_000;
const LISTED = { timeout: 60_000, interval: 250 };

/** A plug, whose allowance of 0.3 covers all that is sent, and a light, whose allowance did not. */
async function announced(publisher: PlayedPublisher): Promise<void> {
  await publisher.plug("lamp");
  await publisher.on("strip/set", (payload) => publisher.say("strip/state", payload));
  await publisher.config("light/strip", {
    name: null,
    unique_id: "strip",
    schema: "json",
    command_topic: "strip/set",
    state_topic: "strip/state",
    device: { identifiers: ["strip"], name: "Strip" },
  });
}

async function modesOf(devices: HostedDevices): Promise<Record<string, [string, boolean]>> {
  return Object.fromEntries((await devices.list()).map(({ id, mode, changed }) => [id, [mode, changed]]));
}

async function allowStrip(devices: HostedDevices): Promise<void> {
  const strip = (await devices.list()).find(({ id }) => id === "strip");
  if (!strip) throw new Error("there is no strip");
  await devices.allow(strip);
}

describe("a home of 0.3.0 in which a light was allowed", { tags: ["needs/linux"], timeout: 240_000 }, () => {
  let home: KeptHome | undefined;
  let publisher: PlayedPublisher | undefined;
  afterAll(async () => {
    await publisher?.stop();
    await home?.stop();
  });

  test("S23: the owner is told once, in the chat and at the device, and what still holds is kept", async () => {
    const model = await startScriptedModel();
    const telegram = await FakeTelegram.start();
    home = await KeptHome.unpack("0.3.0");
    home.movesTelegram(telegram.server.url);
    const { broker } = home;
    const ids = ["plug-lamp", "strip"];
    const begin = async (gateway: KeptHome["gateway"]) => {
      publisher = await PlayedPublisher.connect(broker);
      await announced(publisher);
      const devices = new HostedDevices({ gateway });
      await devices.known(ids);
      return devices;
    };
    await home.asOfThen(async (gateway) => {
      const devices = await begin(gateway);
      await allowStrip(devices);
      expect(await modesOf(devices)).toMatchObject({
        "plug-lamp": ["allowed", false],
        strip: ["allowed", false],
      });
      await publisher?.stop();
    });

    const env = { LLM_BASE_URL: model.url, LLM_MODEL: "scripted", AGENTS_KEEP_DAYS: "3650" };
    const told = () => telegram.chat(1001).filter(({ text }) => text.includes(ASKS_AGAIN));
    const asToday = { "plug-lamp": ["allowed", false], strip: ["ask", true] };
    await home.start(env);
    const now = await begin(home.gateway);
    // The home has the devices as 0.3.0 stored them, until its bridge lists them.
    await expect.poll(() => modesOf(now), LISTED).toMatchObject(asToday);
    const [message] = await until(() => told().length > 0 && told(), {
      within: TOLD_WITHIN_MS,
      what: "the list of devices that ask again",
    });
    expect(message?.text).toContain(`${ASKS_AGAIN}strip. The page Devices`);
    await publisher?.stop();

    await home.pause();
    const waiting: unknown[] = [];
    changeRows(join(home.folder, "home/worker"), "earlier_allowance", (rows) =>
      waiting.push(...rows.prepare("SELECT * FROM earlier_allowance").all()),
    );
    expect(waiting).toEqual([]);
    await home.start(env);
    const devices = await begin(home.gateway);
    await expect.poll(() => modesOf(devices), LISTED).toMatchObject(asToday);
    const { reason } = await devices.ask("strip", "set", { on: true });
    expect(reason).toContain("changed since you allowed it");
    // A yes is for one call; the plug is switched without one, and a person allows the strip anew.
    expect(await modesOf(devices)).toMatchObject(asToday);
    expect((await devices.ask("plug-lamp", "set", { on: true })).reason).toBeUndefined();
    await allowStrip(devices);
    expect(await modesOf(devices)).toMatchObject({ strip: ["allowed", false] });
    expect(told()).toHaveLength(1);
    await Promise.all([telegram.server.close(), model.close()]);
  });
});
