// @module-tag needs/mosquitto
// @module-tag needs/chromium
/**
 * The three sentences that people say first, in the console: told by devices of a real broker and a real agent, answered by
 * buttons, silent in quiet hours, and pushed. Nobody can wait for 8 in the morning: its reminder comes in the next minute, and the quiet
 * hours, set in the console, end then.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAsync, type MqttClient } from "mqtt";
import type { Locator, Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { startPlatform } from "../platforms/server.ts";
import { checkVapid, openPush, TestReceiver } from "../push-receiver.ts";
import { type Step, script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import {
  addressInBrowser,
  axeFinds,
  openScreen,
  openWindow,
  PHONE,
  signIn,
  useChromium,
} from "./chromium.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";

/** A full minute of the clock is up to two minutes away, and then messages for the same people are gathered for 30 s. */
const SLOW = { timeout: 240_000 };
const WITHIN = { timeout: 180_000 };

const receiver = new TestReceiver();
const pushed: Array<{ text: string }> = [];
const service = await startPlatform(({ path, headers, body }) => {
  checkVapid(String(headers.authorization), `${service.url}${path}`, Date.now());
  pushed.push(JSON.parse(openPush(receiver, body)) as { text: string });
  return { status: 201 };
});
afterAll(() => service.close());

let publisher: MqttClient;
const stack = useStack(
  {
    mosquitto: findMosquitto(),
    bridge: { STATE_DIRECTORY: mkdtempSync(join(tmpdir(), "edgecall-bridge-")) },
    vars: { GATEWAY_TOOLS: "rules", PUSH_SERVERS: service.url, TIMEZONE: "Europe/Berlin" },
  },
  async (stack) => {
    publisher = await connectAsync(stack.mqttUrl);
    const unit = { device_class: "temperature", unit_of_measurement: "°C", state_class: "measurement" };
    await describeDevice("sensor", "freezer", "Freezer", unit);
    await describeDevice("binary_sensor", "gate", "Gate", { device_class: "occupancy" });
    await describeDevice("binary_sensor", "cellar", "Cellar", { device_class: "moisture" });
    await describeDevice("binary_sensor", "window", "Window", { device_class: "window" });
    await stack.startAgent({ id: "garden", capabilities: "garden house: temperature" });
    await stack.gateway.online("garden");
    await new HostedDevices(stack).known(["freezer", "gate", "cellar", "window"]);
    await report("freezer", "-18.2");
    for (const id of ["gate", "cellar", "window"]) await report(id, "OFF");
    const shown = async () =>
      (await new HostedDevices(stack).list()).every(({ readings }) =>
        readings.some(({ text }) => text !== ""),
      );
    await until(shown, { within: 30_000, what: "all have a value" });
  },
);
afterAll(() => publisher?.endAsync(true));

async function describeDevice(kind: string, id: string, name: string, more: object): Promise<void> {
  const device = { identifiers: [id], name };
  const config = { unique_id: id, name: null, device, state_topic: `home/${id}/state`, ...more };
  const retained = { retain: true, qos: 1 } as const;
  await publisher.publishAsync(`homeassistant/${kind}/${id}/config`, JSON.stringify(config), retained);
}
const report = (id: string, state: string) => publisher.publishAsync(`home/${id}/state`, state);

const call = (name: string, args: object): Step => ({ calls: [{ name, arguments: args }] });

/** The time in Berlin so many minutes from now, `HH:MM`. */
function clock(minutes: number): string {
  const options = { timeZone: "Europe/Berlin", hour: "2-digit", minute: "2-digit" } as const;
  return new Date(Date.now() + minutes * 60_000).toLocaleTimeString("en-GB", options);
}

describe("the three sentences, in the console", () => {
  let page: Page;
  let other: Page;
  useChromium(async (browser) => {
    page = await openWindow(browser, PHONE);
    await page.context().grantPermissions(["notifications"], { origin: addressInBrowser(stack.gateway.url) });
    // No push service can be reached from here, so the browser's subscription is played.
    await page.addInitScript(
      `PushManager.prototype.subscribe = async () => ({ toJSON: () => (${JSON.stringify({
        endpoint: `${service.url}/push/one`,
        keys: receiver.keys,
      })}) });`,
    );
    await signIn(page, stack.gateway.url, TOKENS.owner);
    await screen("Notifications");
    await page.getByRole("button", { name: "Turn on in this browser" }).click();
    await page.getByRole("button", { name: /^Remove Chrome/ }).waitFor();
    await screen("Chats");
    other = await openWindow(browser);
    await signIn(other, stack.gateway.url, TOKENS.owner);
  });

  const screen = (name: string) => openScreen(page, name);
  const say = async (sentence: string, ...steps: Step[]) => {
    await page.getByLabel("Message").fill(`${sentence}\n${script(...steps)}`);
    await page.getByRole("button", { name: "Ask" }).click();
  };
  const turnWith = (text: string | RegExp, at = page): Locator =>
    at.locator(".turn", { hasText: text }).last();
  const told = async (text: RegExp, at = page): Promise<Locator> => {
    const turn = turnWith(text, at);
    await turn.waitFor(WITHIN);
    return turn;
  };

  test("are confirmed by the gateway, also in another open page", async () => {
    const warm = { name: "Freezer too warm", agent_id: "freezer", is: "above", value: -15, for_minutes: 0 };
    await say("Tell me when the freezer is above −15.", call("watch", { ...warm, reading: "temperature" }), {
      text: "I will.",
    });
    await told(/Watching Freezer.*above −15 °C.*Now: −18\.2 °C/s);
    const conversation = page.url().split("#")[1] ?? "";
    await other.goto(`${stack.gateway.url}/#${conversation}`);
    await told(/Watching Freezer.*above −15 °C/s, other);

    const gate = { name: "Somebody at the gate", agent_id: "gate", reading: "occupancy", is: "equal" };
    await say(
      "Is anybody still at the gate? Tell me until I answer.",
      call("watch", { ...gate, value: true, repeat: "until_ack" }),
      { text: "I will." },
    );
    await told(/Watching Gate/, other);
    await turnWith(/Watching Gate/)
      .getByRole("button", { name: "Undo" })
      .waitFor();
  });

  test("what is undone in one page is undone in the other", async () => {
    await say("Remind me of the tea in an hour.", call("remind", { text: "tea", in_minutes: 60 }), {
      text: "Yes.",
    });
    const made = await told(/“tea”/);
    await told(/“tea”/, other);
    await made.getByRole("button", { name: "Undo" }).click();
    await made.getByText("✔ Stopped by anna: tea.").waitFor();
    await turnWith(/“tea”/, other).getByText("✔ Stopped by anna: tea.").waitFor();
    expect(await turnWith(/“tea”/, other).getByRole("button", { name: "Undo" }).count()).toBe(0);
  });

  test(
    "the freezer: told at once, in both pages and by push; snoozed in one, that shows in the other",
    SLOW,
    async () => {
      await report("freezer", "-11.4");
      const notice = await told(/🔔 Freezer too warm: −11\.4 °C/);
      await told(/🔔 Freezer too warm: −11\.4 °C/, other);
      await until(() => pushed.some(({ text }) => text.includes("Freezer too warm: −11.4 °C")));
      expect(await axeFinds(page)).toEqual([]);
      await notice.getByRole("button", { name: "Snooze 1 h" }).click();
      await notice.getByText(/💤 Freezer too warm: silent until/).waitFor();
      await turnWith(/🔔 Freezer too warm/, other)
        .getByText(/💤 Freezer too warm: silent until/)
        .waitFor();
      await screen("Rules");
      await page
        .getByRole("region", { name: "Freezer too warm" })
        .getByText(/Silent: it is snoozed until/)
        .waitFor();
      await screen("Chats");
    },
  );

  test("the gate: told until somebody answers", SLOW, async () => {
    await report("gate", "ON");
    const notice = await told(/🔔 Somebody at the gate/, other);
    await notice.getByRole("button", { name: "Got it" }).click();
    await notice.getByText("✔ Answered by anna: Somebody at the gate.").waitFor();
    await turnWith(/🔔 Somebody at the gate/)
      .getByText("✔ Answered by anna")
      .waitFor();
    await screen("Rules");
    const card = page.getByRole("region", { name: "Somebody at the gate" });
    await card.getByText("anna has answered, and it goes on").waitFor();
    await screen("Chats");
  });

  test("in quiet hours nothing is told; at their end comes one list", SLOW, async () => {
    const wet = { reading: "moisture", is: "equal", value: true, for_minutes: 0 };
    const open = { reading: "window", is: "equal", value: true, for_minutes: 0 };
    await say(
      "Tell me when the cellar is wet, or the window is open.",
      call("watch", { name: "Cellar wet", agent_id: "cellar", ...wet }),
      call("watch", { name: "Window open", agent_id: "window", ...open }),
      { text: "I will." },
    );
    await told(/Watching Window/);
    await screen("Rules");
    await page.getByRole("button", { name: "Change the time" }).click();
    await page.getByLabel("Quiet from").fill(clock(-60));
    await page.getByLabel("until").fill(clock(2));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(/Quiet hours: /).waitFor();
    await report("cellar", "ON");
    await report("window", "ON");
    for (const name of ["Cellar wet", "Window open"])
      await until(async () => {
        await page.getByRole("button", { name: "Refresh" }).click();
        const card = page.getByRole("region", { name });
        return await card
          .getByText(/waits for the end of the quiet hours at .*one firing is held back/)
          .isVisible();
      });
    await screen("Chats");
    expect(await page.locator(".said", { hasText: /🔔 (Cellar wet|Window open)/ }).count()).toBe(0);
    const list = await told(/☀ During the quiet hours:/, other);
    await turnWith(/☀ During the quiet hours:/).waitFor();
    const words = await list.textContent();
    for (const name of ["Cellar wet", "Window open"]) expect(words).toContain(name);
    expect(pushed.filter(({ text }) => text.includes("Cellar wet"))).toHaveLength(1);
  });

  test("each morning: a person allows it, then it reads the garden at its time", SLOW, async () => {
    const brief = script(
      { calls: [{ arguments: { agent_id: "garden", action: "temperature", params: {} } }] },
      { text: "Good morning. The garden: $results" },
    );
    // At least a minute ahead: a time that has passed when the rule is made comes tomorrow.
    const daily = { text: `the garden's temperature\n${brief}`, every: "day", at: clock(2), do: "brief" };
    await say("Every morning at 8 the garden's temperature.", call("remind", daily), { text: "I will." });
    const question = page.getByRole("group", { name: "Set this reminder?" });
    await question.getByText(/costs tokens/).waitFor();
    await question.getByRole("button", { name: "Set", exact: true }).click();
    await told(/Briefs you here every day at/);
    await told(/Good morning\. The garden: .*48/s, other);
  });
});
