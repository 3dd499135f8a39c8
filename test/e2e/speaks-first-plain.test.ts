// @module-tag needs/mosquitto
// @module-tag needs/chromium
/**
 * The three sentences of the first day in Telegram, Slack and the console: two are understood without the model, which makes the rule
 * of the third and answers the briefing. Devices are of a real broker, and one is a paired agent.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { PlayedPublisher } from "../../bridge/testkit/publisher.ts";
import { onSlack } from "../platforms/on-slack.ts";
import { OWNER, onTelegram } from "../platforms/people.ts";
import { waitForText } from "../platforms/waiting.ts";
import { TOKENS } from "../tokens.ts";
import { askIn, openWindow, PHONE, signIn, useChromium } from "./chromium.ts";
import { action, RESULTS } from "./edge-calls.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { ROOT } from "./program.ts";
import { button, isAnswered, messageWith, shown, tool } from "./rule-chats.ts";
import { useStack } from "./stack.ts";

const PICTURES = process.env.PICTURES === "1" ? join(ROOT, "docs/pictures") : undefined;
const MINUTE = 60_000;
/** The freezer's firing holds for a minute, messages for the same people are gathered for half of one, and the briefing is due in two. */
const TOLD_MS = 3 * MINUTE;
const FREEZER = "Tell me when the freezer is above −15.";
const GATE = "Is anybody still at the gate? Tell me until I answer.";
/** Approved in time, it comes in the second minute from now. */
const GARDEN = () => {
  const at = new Date(Date.now() + 2 * MINUTE).toISOString().slice(11, 16);
  return `Every day at ${at} ${BRIEFED}.`;
};
const BRIEFED = "the garden's temperature";

const vars: Record<string, string> = { GATEWAY_TOOLS: "rules", TIMEZONE: "UTC" };
const bridge = { BRIDGE_STATE: mkdtempSync(join(tmpdir(), "edgecall-bridge-")) };
const stack = useStack({ vars, bridge, mosquitto: findMosquitto() }, async (stack) => {
  await stack.startAgent({ id: "garden", capabilities: "garden house: temperature" });
  await stack.gateway.online("garden");
  const gate = { agent_id: "gate", reading: "occupancy", is: "equal", value: true, repeat: "until_ack" };
  const watch = tool("watch", { name: "Anybody still at the gate", ...gate });
  stack.model.written.set(GATE, [watch, { text: "I will." }]);
  stack.model.written.set(BRIEFED, [action("garden", "temperature"), RESULTS]);
});
const post = (path: string, init: RequestInit) => fetch(`${stack.gateway.url}${path}`, init);
const PEOPLE = [await onTelegram(post), await onSlack(post)] as const;
vars.CHANNELS = JSON.stringify(PEOPLE.map(({ settings }) => settings));

let publisher: PlayedPublisher;
beforeAll(async () => {
  publisher = await PlayedPublisher.connect(stack.mqttUrl);
  const temperature = { unit_of_measurement: "°C", device_class: "temperature" };
  await describeDevice("sensor/freezer", "Freezer", temperature);
  await describeDevice("binary_sensor/gate", "Gate", { device_class: "occupancy" });
  await new HostedDevices(stack).known(["freezer", "gate"]);
  await publisher.say("home/freezer", "-18.2", true);
  await publisher.say("home/gate", "OFF", true);
}, MINUTE);
afterAll(async () => {
  await publisher?.client.endAsync(true);
  await Promise.all(PEOPLE.map(({ server }) => server.close()));
});

/** As people see it, of a phone's and a desk's width, for docs/pictures. */
async function takePictures(page: Page, folder: string): Promise<void> {
  for (const [width, height] of [
    [390, 844],
    [1280, 800],
  ] as const)
    for (const colorScheme of ["light", "dark"] as const) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.screenshot({ path: join(folder, `console-notice-${width}-${colorScheme}.png`) });
    }
}

async function describeDevice(topic: string, name: string, more: object): Promise<void> {
  const id = name.toLowerCase();
  const device = { identifiers: [id], name };
  await publisher.config(topic, { name: null, unique_id: id, state_topic: `home/${id}`, device, ...more });
}

const FREEZER_WATCHED =
  /Watching Freezer: tells you here .Tell me when the freezer is above −15. when temperature is above −15 °C/;
const GATE_WATCHED = /Watching Gate: .*until somebody answers/;

describe("plain sentences", () => {
  let page: Page;
  useChromium(async (browser) => {
    page = await openWindow(browser, PHONE);
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });

  test(
    "the three sentences, in Telegram, Slack and the console: made, and told",
    async () => {
      const chats = await Promise.all(
        PEOPLE.map(async (person) => {
          const sent = await person.say(FREEZER, OWNER);
          expect(shown(await messageWith(sent, "Watching Freezer", "Undo"))).toMatch(FREEZER_WATCHED);
          await person.say(GATE, OWNER);
          expect(shown(await messageWith(sent, "Watching Gate", "Undo"))).toMatch(GATE_WATCHED);
          await person.say(GARDEN(), OWNER);
          const question = await messageWith(sent, "Set this reminder?", "Set");
          await person.press(button(question, "Set"), OWNER);
          await messageWith(sent, "Briefs you here every day at", "Undo");
          return { person, sent };
        }),
      );
      for (const [sentence, made] of [
        [FREEZER, FREEZER_WATCHED],
        [GATE, GATE_WATCHED],
      ] as const)
        await (await askIn(page, sentence)).getByRole("paragraph").filter({ hasText: made }).waitFor();
      const briefed = await askIn(page, GARDEN());
      await briefed
        .getByRole("group", { name: "Set this reminder?" })
        .getByRole("button", { name: "Set", exact: true })
        .click();
      await briefed.getByRole("paragraph").filter({ hasText: "Briefs you here every day at" }).waitFor();

      await publisher.say("home/freezer", "-11.4", true);
      await publisher.say("home/gate", "ON", true);
      for (const { person, sent } of chats) {
        const told = await messageWith(sent, "the freezer is above −15: −11.4 °C", "Got it", TOLD_MS);
        await person.press(button(told, "Got it"), OWNER);
        await isAnswered(person, sent, told, /Answered by/);
        await messageWith(sent, "Anybody still at the gate: ", "Got it", TOLD_MS);
        await waitForText(sent, /48\.3/, TOLD_MS);
      }
      for (const words of [
        /🔔 Tell me when the freezer is above −15: −11\.4 °C/,
        /🔔 Anybody still at the gate/,
        /48\.3/,
      ])
        await page.locator(".turn", { hasText: words }).last().waitFor({ timeout: TOLD_MS });
      if (PICTURES) await takePictures(page, PICTURES);
    },
    8 * MINUTE,
  );
});
