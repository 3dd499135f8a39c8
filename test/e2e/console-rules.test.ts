/** The console's screen of rules, and what rules say outside of it: Web Push to this browser, and ntfy. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { startPlatform } from "../platforms/server.ts";
import { checkVapid, openPush, TestReceiver } from "../push-receiver.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import {
  addressInBrowser,
  askIn,
  axeFinds,
  openScreen,
  openWindow,
  PHONE,
  signIn,
  useChromium,
} from "./chromium.ts";
import { Notifications } from "./notifications.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const PICTURES = process.env.PICTURES === "1" ? join(ROOT, "docs/pictures") : undefined;

type Pushed = { id: string; text: string; conversation: string; buttons: Array<{ label: string }> };
type Published = {
  topic: string;
  message: string;
  priority: number;
  actions: Array<{ action: string; label: string; method: string; url: string }>;
};

/** A push service that opens what it gets, and a server of ntfy. */
const receiver = new TestReceiver();
const pushed: Pushed[] = [];
const published: Published[] = [];
const server = await startPlatform(({ method, path, headers, body }) => {
  if (path === "/") {
    if (headers.authorization !== "Bearer tk_test") return { status: 401 };
    published.push(JSON.parse(body.toString()) as Published);
    return { status: 200, body: {} };
  }
  if (method !== "POST" || headers["content-encoding"] !== "aes128gcm") return { status: 415 };
  if (!/^\d+$/.test(String(headers.ttl)) || !/^[\w-]{1,32}$/.test(String(headers.topic)))
    return { status: 400 };
  checkVapid(String(headers.authorization), `${server.url}${path}`, Date.now());
  pushed.push(JSON.parse(openPush(receiver, body)) as Pushed);
  return { status: 201 };
});
afterAll(() => server.close());

const stack = useStack(
  { vars: { GATEWAY_TOOLS: "rules", PUSH_SERVERS: server.url, TIMEZONE: "Europe/Berlin" } },
  async (stack) => {
    await stack.startAgent({ id: "pi" });
    await stack.gateway.online("pi");
  },
);

const NAME = "Shed is away";
const watch = { name: NAME, agent_id: "pi", reading: "presence", is: "offline", for_minutes: 0 };
const remind = { text: "look at garden.example", every: "day", at: "08:00" };
const make = (name: string, args: object) => script({ calls: [{ name, arguments: args }] }, { text: "ok" });

describe("rules in the console", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  let notifications: Notifications;
  useChromium(async (browser) => {
    page = await openWindow(browser, PHONE);
    await page.context().grantPermissions(["notifications"], { origin: addressInBrowser(stack.gateway.url) });
    // No push service can be reached from here, so the browser's subscription is played. All else is the browser's own.
    await page.addInitScript(
      `PushManager.prototype.subscribe = async ({ applicationServerKey }) => ({ toJSON: () => (${JSON.stringify(
        {
          endpoint: `${server.url}/push/one`,
          keys: receiver.keys,
        },
      )}) });`,
    );
    notifications = await Notifications.of(page, new URL(addressInBrowser(stack.gateway.url)).origin);
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });

  const card = (name: string) => page.getByRole("region", { name });
  const toRules = async () => {
    await page.getByRole("link", { name: "Rules" }).click();
    await page.getByRole("button", { name: "Refresh" }).click();
  };

  /** On a small phone. */
  async function noWiderThanPage() {
    await page.setViewportSize({ width: 360, height: 740 });
    const beside = await page.evaluate(
      "[document.documentElement, document.querySelector('main')].map((one) => one.scrollWidth - one.clientWidth)",
    );
    expect(beside).toEqual([0, 0]);
    await page.setViewportSize(PHONE);
  }

  test("the manifest makes the console an app that can be installed", async () => {
    const cdp = await page.context().newCDPSession(page);
    const { errors } = await cdp.send("Page.getAppManifest");
    expect(errors).toEqual([]);
  });

  test("the icons are served as pictures that a browser can draw", async () => {
    for (const width of [180, 192, 512]) {
      const response = await page.request.get(`${stack.gateway.url}/icon-${width}.png`);
      expect(response.headers()["content-type"]).toBe("image/png");
      const drawn = await page.evaluate<number>(
        `new Promise((resolve, reject) => Object.assign(new Image(), { src: "/icon-${width}.png", onerror: reject, onload() { resolve(this.naturalWidth); } }))`,
      );
      expect(drawn).toBe(width);
    }
  });

  test("a rule is listed with its state, and is edited, paused and resumed", async () => {
    await askIn(page, make("watch", watch));
    await page.locator(".turn .answer").last().waitFor();
    await askIn(page, make("remind", remind));
    await page.locator(".turn .answer").last().waitFor();
    // The console leaves out the joiners, which keep chat apps from making a link of it.
    await page.getByText("“look at garden.example”").waitFor();
    await toRules();
    await card(NAME).getByText("waiting").waitFor();
    await card(NAME).getByText("It has not fired yet.").waitFor();
    await card("look at garden.example")
      .getByText(/Next: .*; .*; .*8:00/)
      .waitFor();

    await page.getByRole("button", { name: "Pause look at garden.example" }).click();
    await card("look at garden.example").getByText("paused").waitFor();
    await page.getByRole("button", { name: "Resume look at garden.example" }).click();
    await page.getByRole("button", { name: "Edit look at garden.example" }).click();
    await page.getByLabel("Text").fill("water the garden");
    await page.getByRole("button", { name: "Save" }).click();
    await card("water the garden").waitFor();
    expect(await axeFinds(page)).toEqual([]);
  });

  test("a watch takes what is changed of it; what does not fit is refused by name, and stays on the screen", async () => {
    await page.getByRole("button", { name: `Edit ${NAME}` }).click();
    const form = page.getByRole("form", { name: `Edit ${NAME}` });
    await form.getByLabel("Only between").fill("8-20");
    await form.getByLabel("Words to add").fill("Look at the plug");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("only_between: expected HH:MM-HH:MM").waitFor();
    await form.getByLabel("Only between").fill("00:00–23:59");
    await form.getByLabel("Tells").selectOption("until_ack");
    expect(await axeFinds(page)).toEqual([]);
    await noWiderThanPage();
    await form.getByRole("button", { name: "Save" }).click();
    await card(NAME).getByText("Only 00:00-23:59. Again until somebody answers.").waitFor();
    await page.getByRole("button", { name: `Edit ${NAME}` }).click();
    expect(await form.getByLabel("Words to add").inputValue()).toBe("Look at the plug");
    await form.getByLabel("Only between").fill("");
    await form.getByLabel("Tells").selectOption("each_time");
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
  });

  test("what another person changes while a form is open stays, and only what was changed here is sent", async () => {
    const change = async (path: string, fields: object) => {
      const body = JSON.stringify(fields);
      expect((await stack.gateway.fetch(path, { method: "PATCH", body })).ok).toBe(true);
    };
    const rule = await card(NAME).getByRole("heading").getAttribute("id");
    await page.getByRole("button", { name: `Edit ${NAME}` }).click();
    await page.getByRole("button", { name: "Change the time" }).click();
    await change(`/v1/rules/${rule}`, { severity: "warning" });
    await change("/v1/home/clock", { quiet_hours: "22:00-07:00" });
    await page.getByRole("button", { name: "Refresh" }).click();
    await card(NAME).getByText("warning.").waitFor();
    await page.getByText("Quiet hours: 22:00-07:00.").waitFor();

    const form = page.getByRole("form", { name: `Edit ${NAME}` });
    await form.getByLabel("Words to add").fill("Look at the shed");
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    const clock = page.getByRole("form", { name: "The home's time" });
    await clock.getByLabel("Time zone").fill("Asia/Tokyo");
    await clock.getByRole("button", { name: "Save" }).click();
    await page.getByText("Times are of Asia/Tokyo. Quiet hours: 22:00-07:00.").waitFor();
    await card(NAME).getByText("warning.").waitFor();
    await page.getByRole("button", { name: `Edit ${NAME}` }).click();
    expect(await form.getByLabel("Words to add").inputValue()).toBe("Look at the shed");
    await form.getByRole("button", { name: "Cancel" }).click();
    await change(`/v1/rules/${rule}`, { severity: "info", say: "Look at the plug" });
    await change("/v1/home/clock", { zone: "Europe/Berlin", quiet_hours: "off" });
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText("Times are of Europe/Berlin. There are no quiet hours.").waitFor();
  });

  test("the home's zone and quiet hours are set by an owner; an unknown zone is refused by name", async () => {
    await page.getByText("Times are of Europe/Berlin. There are no quiet hours.").waitFor();
    await page.getByRole("button", { name: "Change the time" }).click();
    await page.getByLabel("Time zone").fill("Europe/Berlln");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("zone: expected a zone as in Europe/Berlin, got 'Europe/Berlln'").waitFor();
    await page.getByLabel("Time zone").fill("Asia/Tokyo");
    await page.getByLabel("Quiet from").fill("22:00");
    await page.getByLabel("until").fill("07:00");
    expect(await axeFinds(page)).toEqual([]);
    await noWiderThanPage();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Times are of Asia/Tokyo. Quiet hours: 22:00-07:00.").waitFor();
    // By the new clock it is still at 8.
    await card("water the garden")
      .getByText(/Next: .*; .*; .*8:00/)
      .waitFor();
    await page.getByRole("button", { name: "Change the time" }).click();
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    for (const label of ["Quiet from", "until"]) await page.getByLabel(label).fill("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Times are of Europe/Berlin. There are no quiet hours.").waitFor();
  });

  test("notifications are turned on in this browser, and a topic of ntfy is added", async () => {
    await openScreen(page, "Notifications");
    await page.getByRole("button", { name: "Turn on in this browser" }).click();
    await page.getByRole("button", { name: /^Remove Chrome/ }).waitFor();
    await page.getByLabel("Topic of ntfy").fill("http://192.168.1.9/mine");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText("url: it leads to a private or special address").waitFor();
    await page.getByLabel("Topic of ntfy").fill(`${server.url}/mine`);
    await page.getByLabel("Access token").fill("tk_test");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("button", { name: `Remove ${server.url}/mine` }).waitFor();
    expect(await axeFinds(page)).toEqual([]);
  });

  test("what a rule says reaches the push service, this browser's service worker, and the topic", async () => {
    await toRules();
    await card(NAME).getByText("It has not fired yet.").waitFor();
    await stack.agent("pi").kill();
    const message = await until(() => pushed[0], { within: 60_000 });
    expect(message.text).toContain(NAME);
    expect(message.buttons.map(({ label }) => label)).toEqual(["Got it", "Snooze 1 h"]);
    const topic = await until(() => published[0]);
    expect(topic).toMatchObject({ topic: "mine", priority: 3 });
    expect(topic.actions.map(({ label }) => label)).toEqual(["Got it", "Snooze 1 h", "Stop this watch"]);

    // The screen asks again by itself, each 15 s.
    await card(NAME).getByText("firing", { exact: true }).waitFor({ timeout: 40_000 });
    expect(await card(NAME).getByText("It has not fired yet.").count()).toBe(0);
    await noWiderThanPage();
    for (const [width, height] of [
      [390, 844],
      [1280, 800],
    ] as const)
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        expect(await axeFinds(page)).toEqual([]);
        const name = `console-rules-${width}-${colorScheme}.png`;
        if (PICTURES) await page.screenshot({ path: join(PICTURES, name) });
      }
    await page.setViewportSize(PHONE);

    const shown = await notifications.showing(() => notifications.deliver(message));
    expect(shown.map(({ title }) => title)).toEqual(message.text.split("\n").slice(0, 1));
  });

  test("a button of the notification answers, with the session of the browser", async () => {
    await notifications.press("0");
    await until(async () => {
      await page.getByRole("button", { name: "Refresh" }).click();
      return await card(NAME).getByText("has answered, and it goes on").isVisible();
    });
  });

  test("a button of ntfy counts once, and not when it is forged", async () => {
    const [, snooze] = published[0]?.actions ?? [];
    const press = async (url = "") => (await fetch(url, { method: "POST" })).status;
    expect(snooze?.url).toMatch(new RegExp(`^${addressInBrowser(stack.gateway.url)}/v1/push/press/`));
    // The last character's low bits are no part of the signature: "B" for "A" would be the same link.
    expect(await press(snooze?.url.replace(/.$/, (last) => (last === "A" ? "Q" : "A")))).toBe(404);
    expect(await press(snooze?.url)).toBe(200);
    expect(await press(snooze?.url)).toBe(410);
    await page.getByRole("button", { name: "Refresh" }).click();
    await card(NAME).getByText("it is snoozed until").waitFor();
    // The page names the firing that it shows: it may be over, and another one begun.
    const pressed = page.waitForRequest(/\/press$/);
    await card(NAME).getByRole("button", { name: "Snooze 1 h" }).click();
    expect((await pressed).postDataJSON()).toEqual({ do: "snooze", occurrence: expect.any(Number) });
  });

  test("whose device is gone has stopped and says why; it is resumed only when the device is back", async () => {
    expect((await stack.gateway.fetch("/v1/agents/pi/key", { method: "DELETE" })).ok).toBe(true);
    await until(async () => {
      await page.getByRole("button", { name: "Refresh" }).click();
      return await card(NAME).getByText("its device is gone from this home").isVisible();
    });
    await card(NAME).getByText("stopped", { exact: true }).waitFor();
    await page.getByRole("button", { name: `Resume ${NAME}` }).click();
    await card(NAME).getByText("status: it cannot be active: its device is gone from this home").waitFor();
  });

  test("a rule is deleted", async () => {
    await page.getByRole("button", { name: `Delete ${NAME}` }).click();
    await page.getByRole("button", { name: "Yes, delete" }).click();
    await card(NAME).waitFor({ state: "detached" });
  });
});
