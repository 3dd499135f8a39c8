// @module-tag needs/mosquitto
/**
 * A member's call reaches the people who may decide it, in real processes: a chat app, and a browser's push service that opens what
 * it gets. In the bundles of the tests everybody is asked after 15 s (asking-times.ts).
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAsync, type MqttClient } from "mqtt";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { MEMBER, OWNER, onTelegram } from "../platforms/people.ts";
import { startPlatform } from "../platforms/server.ts";
import { waitForMessage, waitForText } from "../platforms/waiting.ts";
import { checkVapid, openPush, TestReceiver } from "../push-receiver.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { addressInBrowser, openScreen, openWindow, signIn, useChromium } from "./chromium.ts";
import { edgecallOnTerminal } from "./command.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { Notifications, type Shown } from "./notifications.ts";
import { button } from "./rule-chats.ts";
import { useStack } from "./stack.ts";

type Message = {
  id: string;
  text: string;
  over?: true;
  question?: string;
  buttons?: Array<{ label: string; link: string }>;
};

const receiver = new TestReceiver();
const pushed: Message[] = [];
const service = await startPlatform(({ path, headers, body }) => {
  checkVapid(String(headers.authorization), `${service.url}${path}`, Date.now());
  pushed.push(JSON.parse(openPush(receiver, body)) as Message);
  return { status: 201 };
});
const vars: Record<string, string> = { PUSH_SERVERS: service.url, TIMEZONE: "Europe/Berlin" };
const person = await onTelegram((path, init) => fetch(`${stack.gateway.url}${path}`, init));
vars.CHANNELS = JSON.stringify([{ ...person.settings, role_of: { [OWNER]: "owner", [MEMBER]: "member" } }]);
/** Each test has its own: the first yes to one is for its other changes too. */
const PLUGS = ["coffee-plug", "desk-plug", "fan-plug", "hall-plug", "cellar-plug", "lamp-plug", "attic-plug"];

let publisher: MqttClient;
const stack = useStack(
  {
    vars,
    mosquitto: findMosquitto(),
    bridge: { STATE_DIRECTORY: mkdtempSync(join(tmpdir(), "edgecall-bridge-")) },
  },
  async (stack) => {
    publisher = await connectAsync(stack.mqttUrl);
    // It does what it is told, and says so.
    publisher.on("message", (topic, text) =>
      publisher.publish(topic.replace("/set", "/state"), text, { retain: true }),
    );
    await publisher.subscribeAsync("home/+/set");
    for (const id of PLUGS) {
      const config = {
        unique_id: id,
        name: null,
        device: { identifiers: [id], name: id.replace("-", " ") },
        state_topic: `home/${id}/state`,
        command_topic: `home/${id}/set`,
      };
      const retained = { retain: true, qos: 1 } as const;
      await publisher.publishAsync(`homeassistant/switch/${id}/config`, JSON.stringify(config), retained);
      await publisher.publishAsync(`home/${id}/state`, "OFF", retained);
    }
    await new HostedDevices(stack).known(PLUGS);
  },
);
afterAll(async () => {
  await publisher?.endAsync(true);
  await person.server.close();
  await service.close();
});

const switchOn = (agent_id: string) =>
  script(
    { calls: [{ arguments: { agent_id, action: "set", params: { on: true } } }] },
    { text: "so: $results" },
  );
/** Everybody is asked after 15 s. */
const PUSHED = { within: 30_000 };
/** Its name. */
const named = (plug: string) => new RegExp(plug.replace("-", "[- ]"), "i");
/** What the push service has of the question about this plug. */
const about = (plug: string) =>
  until(() => pushed.find(({ text }) => text !== undefined && named(plug).test(text)), {
    what: `pushed: ${plug}`,
    ...PUSHED,
  });
/** That it is taken back. */
const takenBack = ({ id }: Message) =>
  until(() => pushed.find((one) => one.id === id && one.over), { what: "it is taken back", ...PUSHED });
const WITHIN = { timeout: 60_000 };

describe("a call of a member", () => {
  test(
    "is decided by the button of a notification, once; a second press shows what happened",
    WITHIN,
    async () => {
      const body = JSON.stringify({
        endpoint: `${service.url}/push/one`,
        keys: receiver.keys,
        name: "Phone",
      });
      expect((await stack.gateway.fetch("/v1/push/browsers", { method: "POST", body })).status).toBe(201);
      const sent = await person.say(switchOn("coffee-plug"), MEMBER);
      const message = await about("coffee-plug");
      const { text, buttons = [] } = message;
      expect(text.split("\n")[0]).toBe("Switch coffee plug on?");
      expect(buttons).toHaveLength(2);
      expect(buttons.map(({ label }) => label)).toEqual(["No", "Switch on"]);
      await waitForText(sent, /You cannot decide this yourself\. .*anna.* asked, \d\d:\d\d\./);
      const press = async (at: number) => {
        const response = await fetch(`${stack.gateway.url}${buttons[at]?.link}`, { method: "POST" });
        return (await response.json()) as { done: boolean; text: string };
      };
      expect(await press(1)).toMatchObject({ done: true });
      await waitForText(sent, /so: .*on/s);
      expect(await press(0)).toMatchObject({
        done: false,
        text: expect.stringMatching(/^anna said yes, \d\d:\d\d\.$/),
      });
      expect(await takenBack(message)).toEqual({ id: message.question, over: true });
    },
  );

  test(
    "reaches the owner who has just written, then everybody; the owner approves it in Telegram",
    WITHIN,
    async () => {
      const before = pushed.length;
      const owners = await person.say(script({ text: "Hello." }), OWNER);
      await waitForText(owners, "Hello.");
      const members = await person.say(switchOn("desk-plug"), MEMBER);
      const asked = await waitForMessage(
        owners,
        ({ text, buttons }) => named("desk-plug").test(text) && buttons.length > 0,
        "the question in the owner's chat",
      );
      expect(pushed.length).toBe(before);
      const message = await about("desk-plug");
      await waitForText(members, /anna was asked, \d\d:\d\d\./);
      await person.press(button(asked, "Switch on"), OWNER);
      await waitForText(members, /so: .*on/s);
      await takenBack(message);
    },
  );
});

test("a question in a terminal stays there when more people were asked", WITHIN, async () => {
  const owners = await person.say(script({ text: "Hello again." }), OWNER);
  await waitForText(owners, "Hello again.");
  const env = { EDGECALL_URL: stack.gateway.url, EDGECALL_TOKEN: TOKENS.owner, HOME: tmpdir() };
  const command = edgecallOnTerminal(["ask", "-c", "terminal", switchOn("attic-plug")], env);
  await command.writes("[y/n]");
  const isAsked = async () =>
    (await (await stack.gateway.fetch("/v1/conversations/terminal")).text()).includes('"asked":[');
  await until(isAsked, { what: "others are asked", ...PUSHED });
  command.types("y\r");
  const { code, out } = await command.ended;
  expect(code).toBe(0);
  expect(out).toMatch(/so: .*on/s);
});

describe("the service worker", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  let notifications: Notifications;
  useChromium(async (browser) => {
    page = await openWindow(browser);
    await page.context().grantPermissions(["notifications"], { origin: addressInBrowser(stack.gateway.url) });
    // No push service can be reached from here, so the browser's subscription is played. All else is the browser's own.
    const subscription = { endpoint: `${service.url}/push/one`, keys: receiver.keys };
    await page.addInitScript(
      `PushManager.prototype.subscribe = async () => ({ toJSON: () => (${JSON.stringify(subscription)}) });`,
    );
    notifications = await Notifications.of(page, new URL(addressInBrowser(stack.gateway.url)).origin);
    await signIn(page, stack.gateway.url, TOKENS.owner);
    await openScreen(page, "Notifications");
    await page.getByRole("button", { name: "Turn on in this browser" }).click();
    await page.getByRole("button", { name: /^Remove Chrome/ }).waitFor();
    // An owner whose console is open is at hand, and gets no notification at once.
    await page.goto("about:blank");
  });
  test("shows the buttons, a press answers, and one too late shows what happened", WITHIN, async () => {
    const sent = await person.say(switchOn("fan-plug"), MEMBER);
    const message = await about("fan-plug");
    const [notification] = await notifications.showing(() => notifications.deliver(message));
    expect(notification).toMatchObject({
      title: message.text.split("\n")[0],
      actions: message.buttons?.map(({ label }) => label),
    });
    expect(notification?.actions).toHaveLength(2);
    await notifications.press("0");
    await waitForText(sent, / said no/);
    // It was not taken back from a phone that was off meanwhile.
    expect(await notifications.showing(() => notifications.deliver(message))).toHaveLength(1);
    const [late] = await notifications.showing(() => notifications.press("1"));
    expect(late?.body).toMatch(/^anna said no, \d\d:\d\d\.$/);
  });

  test("“It wasn't me” below the message of a new permission ends it", WITHIN, async () => {
    const turn = stack.gateway.begin(switchOn("lamp-plug"), "not-me");
    const { id } = await stack.gateway.question("not-me");
    const answer = JSON.stringify({ answer: "approve", keep: { offer: "always" } });
    const kept = await stack.gateway.fetch(`/v1/questions/${id}`, { method: "POST", body: answer });
    expect([kept.status, await kept.text()]).toEqual([200, expect.any(String)]);
    await turn;
    const permissions = async () =>
      (
        (await (await stack.gateway.fetch("/v1/permissions?ended=yes")).json()) as {
          permissions: Array<{ device: string; ended: { why: string } | null }>;
        }
      ).permissions.filter(({ device }) => device === "lamp-plug");
    expect(await permissions()).toMatchObject([{ ended: null }]);
    const message = await until(
      () =>
        pushed.find(
          ({ text, buttons }) =>
            named("lamp-plug").test(text ?? "") && buttons?.[0]?.label === "It wasn't me",
        ),
      { what: "the permission is told", ...PUSHED },
    );
    const all = await notifications.showing(() => notifications.deliver(message));
    expect(all.some(({ actions }) => actions.includes("It wasn't me"))).toBe(true);
    await (await notifications.worker()).evaluate(`registration.getNotifications().then((all) =>
      dispatchEvent(new NotificationEvent("notificationclick", {
        notification: all.find(({ actions }) => actions[0]?.title === "It wasn't me"), action: "0" })))`);
    await until(async () => (await permissions())[0]?.ended?.why === "not_me", { what: "it has ended" });
  });

  test("takes back what was answered elsewhere", WITHIN, async () => {
    const sent = await person.say(switchOn("hall-plug"), MEMBER);
    const message = await about("hall-plug");
    const isThere = (all: readonly Shown[]) => all.some(({ actions }) => actions.length === 2);
    expect(isThere(await notifications.showing(() => notifications.deliver(message)))).toBe(true);
    await stack.gateway.answer(message.id, "deny");
    await waitForText(sent, / said no/);
    await notifications.deliver(await takenBack(message));
    await until(async () => !isThere(await notifications.shown()), { what: "it is gone" });
  });

  test("without buttons it is two taps: on the notification, and on the verb", WITHIN, async () => {
    let taps = 0;
    // A notification of another test may still stand there, and come first.
    await (await notifications.worker()).evaluate(
      "registration.getNotifications().then((all) => all.forEach((one) => one.close()))",
    );
    const sent = await person.say(switchOn("cellar-plug"), MEMBER);
    const message = await about("cellar-plug");
    expect(await notifications.showing(() => notifications.deliver(message))).toHaveLength(1);
    // A window opens after a tap of a person alone, which a test cannot do.
    await (await notifications.worker()).evaluate(
      "clients.openWindow = async (place) => { self.opened = place; }",
    );
    taps += 1;
    await notifications.press("");
    const place = await until(
      async () => (await notifications.worker()).evaluate<string | undefined>("self.opened"),
      {
        what: "it is opened",
      },
    );
    await page.goto(`${addressInBrowser(stack.gateway.url)}${place}`);
    taps += 1;
    await page.getByRole("dialog").getByRole("button", { name: "Switch on", exact: true }).click();
    await waitForText(sent, /so: .*on/s);
    expect(taps).toBeLessThanOrEqual(2);
    await page.goto("about:blank");
  });
});
