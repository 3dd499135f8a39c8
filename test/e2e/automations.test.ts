/**
 * A rule that acts, as a family has one: said in Telegram in German, allowed in the console, carried out at home while the gateway is off,
 * told in German when it is back, and undone by a button.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { PlayedPublisher } from "../../bridge/testkit/publisher.ts";
import { OWNER, onTelegram, type SentMessage } from "../platforms/people.ts";
import { waitForMessage } from "../platforms/waiting.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { ACTS_WITHIN_MS, ActingRules } from "./acting-rules.ts";
import { axeFinds, openWindow, signIn, useChromium } from "./chromium.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { button, shown } from "./rule-chats.ts";
import { useStack } from "./stack.ts";

const SAID = "Wenn die Haustür aufgeht, mach bitte das Flurlicht an.";
const TELLS = "Die Haustür ist auf, das Flurlicht ist an.";

const folder = mkdtempSync(join(tmpdir(), "edgecall-automations-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a rule that acts", { tags: ["needs/mosquitto", "needs/chromium"], timeout: 400_000 }, () => {
  const vars: Record<string, string> = { GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" };
  const stack = useStack({ mosquitto: findMosquitto(), vars, bridge: { BRIDGE_STATE: folder } });
  const devices = new HostedDevices(stack);
  const rules = new ActingRules(() => stack.gateway);
  let person: Awaited<ReturnType<typeof onTelegram>>;
  let publisher: PlayedPublisher;
  let chat: SentMessage;
  let page: Page;
  useChromium(async (browser) => {
    page = await openWindow(browser);
  });

  beforeAll(async () => {
    person = await onTelegram((path, init) => fetch(`${stack.gateway.url}${path}`, init));
    vars.CHANNELS = JSON.stringify([person.settings]);
    await stack.worker.stop();
    await stack.startWorker();
    publisher = await PlayedPublisher.connect(stack.mqttUrl);
    await publisher.config("binary_sensor/door", {
      name: "Kontakt",
      unique_id: "door",
      state_topic: "door/state",
      device_class: "door",
      device: { identifiers: ["door"], name: "Haustür" },
    });
    await publisher.say("door/state", "OFF", true);
    await publisher.plug("hall", { more: { device: { identifiers: ["hall"], name: "Flurlicht" } } });
    await publisher.say("plugs/hall/state", "OFF", true);
    await until(async () => (await devices.list()).filter(({ online }) => online).length === 2, {
      within: ACTS_WITHIN_MS,
      every: 250,
      what: "the home has both devices",
    });
  }, 120_000);
  afterAll(async () => {
    await publisher?.stop();
    await person?.server.close();
  });

  const byName = async (name: string) => {
    const device = (await devices.list()).find((one) => one.name === name);
    if (!device) throw new Error(`no device ${name}`);
    return device;
  };
  /** What the light was told. */
  const told = () => publisher.sentTo("hall");

  test("is said in Telegram, and nothing is made before an owner allowed it", async () => {
    // No model is needed for such a sentence.
    chat = await person.say(SAID, OWNER);
    const asked = await waitForMessage(
      chat,
      (message) => message.buttons.length > 0 && shown(message).includes("Haustür"),
      "the card in the chat",
    );
    // The card is code's, in the language of the chat.
    expect(shown(asked)).toContain("Flurlicht");
    expect(shown(asked)).toMatch(/Wenn|wenn|Sobald/);
    expect(await rules.list()).toEqual([]);
    await publisher.say("door/state", "ON", true);
    await publisher.say("door/state", "OFF", true);
    expect(told()).toEqual([]);
  });

  test("is allowed in the console, which shows each line of it", async () => {
    await signIn(page, stack.gateway.url, TOKENS.owner);
    await page.getByRole("link", { name: "Waiting for you (1)" }).click();
    const row = page.locator(".wait-row").first();
    await row.waitFor();
    await row.getByRole("link").first().click();
    const sheet = page.getByRole("dialog");
    await sheet.waitFor();
    const lines = await sheet.locator(".rule-lines").textContent();
    expect(lines).toContain("Haustür");
    expect(lines).toContain("Flurlicht");
    expect(await axeFinds(page)).toEqual([]);
    await sheet.locator(".answers button.good").click();
    await until(async () => (await rules.list()).length === 1, {
      within: ACTS_WITHIN_MS,
      what: "the rule is there",
    });
    await until(async () => (await rules.list())[0]?.now?.state === "armed", {
      within: ACTS_WITHIN_MS,
      every: 200,
      what: "the bridge has it",
    });
    const [rule] = await rules.list();
    expect(rule).toMatchObject({ status: "active", allowed_by: "anna" });
    // Words of the owner's own make no other rule of it.
    const body = JSON.stringify({ say: TELLS });
    const changed = await stack.gateway.fetch(`/v1/automations/${rule?.id}`, { method: "PATCH", body });
    expect(changed.status).toBe(200);
    expect(await rules.list()).toMatchObject([{ say: TELLS, version: 1, now: { state: "armed" } }]);
    expect(told()).toEqual([]);
  });

  test("acts with the gateway off, and the device confirms it", async () => {
    await stack.worker.kill();
    await publisher.say("door/state", "ON", true);
    await until(() => told().length > 0, { within: ACTS_WITHIN_MS, what: "the light is told" });
    expect(told()).toEqual(["ON"]);
  });

  test("is told in German when the gateway is back, with buttons; one undoes it", async () => {
    await stack.startWorker();
    const news = await waitForMessage(
      chat,
      (message) => shown(message).includes(TELLS) && message.buttons.length > 0,
      "what it did, in the chat",
      ACTS_WITHIN_MS,
    );
    const labels = news.buttons.map(({ label }) => label);
    expect(labels).toContain("Rückgängig");
    expect(labels.length).toBeGreaterThanOrEqual(2);
    expect((await rules.list())[0]?.now?.runs).toMatchObject([
      { state: "done", steps: [{ outcome: "confirmed" }] },
    ]);
    // The message is another one once it is pressed.
    const undo = button(news, "Rückgängig");
    await person.press(undo, OWNER);
    await until(() => told().length > 1, { within: ACTS_WITHIN_MS, what: "the light is told again" });
    expect(told()).toEqual(["ON", "OFF"]);
    await until(async () => (await rules.list())[0]?.now?.runs[0]?.state === "undone", {
      within: ACTS_WITHIN_MS,
      every: 200,
      what: "the run is undone",
    });
    // It is done once, whatever is pressed.
    await person.press(undo, OWNER);
    expect((await devices.ask((await byName("Flurlicht")).id, "read")).text).toMatch(/off/);
    expect(told()).toEqual(["ON", "OFF"]);
  });
});
