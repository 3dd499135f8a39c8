// @module-tag needs/mosquitto
/** Devices and Home of a home with eighty devices of the broker, in areas, on a phone and on a desktop. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAsync, type MqttClient } from "mqtt";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import {
  answerRead,
  axeFinds,
  holdAnswer,
  openScreen,
  openWindow,
  PHONE,
  signIn,
  useChromium,
} from "./chromium.ts";
import { action } from "./edge-calls.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const PICTURES = process.env.PICTURES === "1" ? join(ROOT, "docs/pictures") : undefined;
const AREAS = ["Attic", "Bathroom", "Bedroom", "Cellar", "Garden", "Hall", "Kitchen", "Living room"];
const IN_EACH = 10;
/** The gateway is told of a publisher's words when its burst is over. */
const SLOW = { timeout: 20_000 };
const SLOW_WAIT = { within: 30_000 };

type Config = Record<string, unknown>;
/** The browser's own, which these tests in Node lack. */
type Styles = { getComputedStyle(of: unknown): { borderTopWidth: string } };

const stack = useStack({
  mosquitto: findMosquitto(),
  vars: { GATEWAY_TOOLS: "history" },
  bridge: { STATE_DIRECTORY: mkdtempSync(join(tmpdir(), "edgecall-bridge-")) },
});

/** A publisher: it describes devices, carries out what it is told, and reports it. */
class Publisher {
  readonly #client: MqttClient;
  readonly #states = new Map<string, Config>();

  private constructor(client: MqttClient) {
    this.#client = client;
  }

  static async start(url: string): Promise<Publisher> {
    const client = await connectAsync(url);
    const publisher = new Publisher(client);
    client.on("message", (topic, payload) => publisher.#told(topic.split("/")[1] ?? "", String(payload)));
    await client.subscribeAsync("home/+/set");
    return publisher;
  }

  async describe(id: string, kind: string, name: string, area: string | undefined, config: Config) {
    const device = { identifiers: [id], name, ...(area !== undefined && { suggested_area: area }) };
    const base = { unique_id: id, name: null, device, availability_topic: `home/${id}/availability` };
    await this.#retain(`homeassistant/${kind}/${id}/config`, JSON.stringify({ ...base, ...config }));
    await this.#retain(`home/${id}/availability`, "online");
  }

  async report(id: string, state: Config) {
    this.#states.set(id, { ...this.#states.get(id), ...state });
    await this.#client.publishAsync(`home/${id}/state`, JSON.stringify(this.#states.get(id)));
  }

  /** Its state was there before the bridge was: nobody knows how old it is. */
  async retained(id: string, kind: string, name: string, area: string, state: Config) {
    await this.#retain(`home/${id}/state`, JSON.stringify(state));
    await this.describe(id, kind, name, area, {
      ...topics(id),
      value_template: "{{ value_json.state }}",
    });
  }

  async away(id: string) {
    await this.#retain(`home/${id}/availability`, "offline");
  }

  close() {
    return this.#client.endAsync(true);
  }

  #told(id: string, text: string) {
    // It is dead, and nobody has noticed.
    if (id.startsWith("silent")) return;
    const told = text.startsWith("{") ? (JSON.parse(text) as Config) : { state: text };
    void this.report(id, told);
  }

  async #retain(topic: string, text: string) {
    await this.#client.publishAsync(topic, text, { retain: true, qos: 1 });
  }
}

const topics = (id: string) => ({ state_topic: `home/${id}/state`, command_topic: `home/${id}/set` });
const lamp = (id: string) => ({ ...topics(id), schema: "json", brightness: true, brightness_scale: 100 });
const plug = (id: string) => ({ ...topics(id), value_template: "{{ value_json.state }}" });
const sensor = (id: string) => ({
  state_topic: `home/${id}/state`,
  value_template: "{{ value_json.temperature }}",
  device_class: "temperature",
  unit_of_measurement: "°C",
});

describe("the console's devices", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  let publisher: Publisher;
  const devices = new HostedDevices(stack);

  beforeAll(async () => {
    publisher = await Publisher.start(stack.mqttUrl);
    const ids: string[] = [];
    for (const area of AREAS) {
      const place = area.toLowerCase().replaceAll(" ", "-");
      for (let n = 1; n <= IN_EACH - 1; n += 1) {
        const [kind, config, state] = [
          ["light", lamp, { state: "OFF", brightness: 40 }],
          ["switch", plug, { state: "OFF" }],
          ["sensor", sensor, { temperature: 17 + n }],
        ][n % 3] as [string, (id: string) => Config, Config];
        const id = `${place}-${kind}-${n}`;
        ids.push(id);
        await publisher.describe(id, kind, `${area} ${kind} ${n}`, area, config(id));
        await publisher.report(id, state);
      }
      const id = `silent-${place}`;
      ids.push(id);
      await publisher.describe(id, "switch", `Silent ${area}`, area, plug(id));
    }
    await devices.known(ids);
    for (const id of ids) await publisher.report(id, {});
  }, 60_000);
  afterAll(() => publisher?.close());

  useChromium(async (browser) => {
    page = await openWindow(browser, PHONE);
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });

  const openDevices = async () => {
    // Coming from another screen, it has nothing of the test before.
    await openScreen(page, "Rules");
    await page.getByRole("heading", { name: "Rules", level: 1 }).waitFor();
    await openScreen(page, "Devices");
    await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
  };
  const find = async (words: string) => {
    await page.getByRole("searchbox", { name: "Find a device or area" }).fill(words);
    await page.getByText(/^\d+ found$/).waitFor();
  };
  const rows = () => page.locator(".thing");
  const row = (name: string) => rows().filter({ has: page.getByText(name, { exact: true }) });
  const shown = (name: string) => page.getByRole("article", { name, exact: true });
  /** Opens the page of the one that was found. @param words that find it alone @param name its own */
  const open = async (words: string, name: string) => {
    await openDevices();
    await find(words);
    await rows().first().locator(".hit").click();
    await shown(name).waitFor();
    return shown(name);
  };
  /** As when somebody comes back to the page. */
  const refresh = async () => {
    const answered = answerRead(page, /\/v1\/devices$/);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await answered;
  };
  const isTooWide = () =>
    page.evaluate("document.querySelector('main').scrollWidth > document.querySelector('main').clientWidth");

  test("what the bridge left out is counted, with the reasons", async () => {
    await publisher.describe("odd", "hologram", "Odd", "Attic", {});
    await openDevices();
    const counted = page.getByText("1 description on the broker left out");
    await until(async () => {
      await refresh();
      return await counted.isVisible();
    });
    await counted.click();
    await page.getByText("the kind of the config is not known: 1").waitFor();
  }, 60_000);

  test("eighty devices are read on a phone: areas fold, nothing is wider than the window, a word finds one", async () => {
    await openDevices();
    await page.getByRole("link", { name: `All ${AREAS.length * IN_EACH}` }).waitFor();
    const areas = page.locator("details.area");
    expect(await areas.locator("h2").allTextContents()).toEqual(AREAS);
    expect(await rows().count()).toBe(0);
    await page.locator("summary", { hasText: "Kitchen" }).click();
    await expect.poll(() => rows().count()).toBe(IN_EACH);
    // Its state stands beside its name, which does not say the area again.
    await row("Sensor 2").getByText("19 °C").waitFor();
    for (const width of [360, PHONE.width]) {
      await page.setViewportSize({ width, height: PHONE.height });
      expect(await isTooWide(), String(width)).toBe(false);
    }
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFinds(page), colorScheme).toEqual([]);
      if (PICTURES) await page.screenshot({ path: join(PICTURES, `console-devices-390-${colorScheme}.png`) });
    }
    await find("garden 99");
    expect(await rows().count()).toBe(0);
    await find("garden light 3");
    await row("Light 3").waitFor();
    expect(await rows().count()).toBe(1);
  });

  test("N5: a retained state is shown with its age, and what is not available has no switch that works", async () => {
    await publisher.retained("vault", "lock", "Vault", "Cellar", { state: "LOCKED" });
    await publisher.describe("half", "switch", "Half", "Cellar", plug("half"));
    await publisher.report("half", { state: "ON" });
    await devices.known(["vault", "half"]);
    await openDevices();
    await until(async () => {
      await refresh();
      return (await page.getByRole("link", { name: `All ${AREAS.length * IN_EACH + 2}` }).count()) === 1;
    }, SLOW_WAIT);
    await find("cellar vault");
    await row("Vault").getByText("Locked", { exact: true }).waitFor();
    await row("Vault").getByText("age unknown").waitFor();
    await find("cellar half");
    await publisher.away("half");
    await until(async () => {
      await refresh();
      return await row("Half").getByText("Offline", { exact: true }).isVisible();
    }, SLOW_WAIT);
    expect(await row("Half").getByRole("switch").isDisabled()).toBe(true);
    expect(await axeFinds(page)).toEqual([]);
  }, 120_000);

  test("an owner's press is the approval, and the device's own state confirms it", async () => {
    const lamp = await open("kitchen light 3", "Kitchen light 3");
    await lamp.locator("header").getByText("Off", { exact: true }).waitFor();
    await lamp.getByRole("button", { name: "On: Kitchen light 3" }).click();
    await lamp.getByText(/^done, and confirmed by its state in /).waitFor();
    await lamp.locator("header").getByText("On · 40 %", { exact: true }).waitFor();
    expect(await lamp.getByRole("button", { name: "On: Kitchen light 3" }).getAttribute("aria-pressed")).toBe(
      "true",
    );
    expect(await axeFinds(page)).toEqual([]);

    const slider = lamp.getByRole("slider", { name: "brightness of Kitchen light 3" });
    expect(await slider.inputValue()).toBe("40");
    await slider.fill("70");
    await lamp.locator("dd", { hasText: "70 %" }).waitFor();
    expect(await lamp.getByRole("group", { name: /\?$/ }).count()).toBe(0);
  });

  test("a press ends with the state that came of it; a slider that is moved stays where the hand is", async () => {
    const lamp = await open("kitchen light 9", "Kitchen light 9");
    const on = lamp.getByRole("button", { name: "On: Kitchen light 9" });
    const list = await holdAnswer(page, /\/v1\/devices$/);
    await on.click();
    await list.read;
    // The home as it was before the press is shown, so the press is not over.
    expect(await on.isDisabled()).toBe(true);
    list.pass();
    await lamp.getByText(/^done, and confirmed by its state in /).waitFor();
    expect(await on.getAttribute("aria-pressed")).toBe("true");

    const slider = lamp.getByRole("slider", { name: "brightness of Kitchen light 9" });
    const moves = (what: "input" | "change") =>
      slider.evaluate((input: { value?: string; dispatchEvent(event: Event): void }, type) => {
        input.value = "60";
        input.dispatchEvent(new Event(type, { bubbles: true }));
      }, what);
    await moves("input");
    await publisher.report("kitchen-light-9", { brightness: 90 });
    await until(async () => {
      await refresh();
      return await lamp.locator("dd", { hasText: "90 %" }).isVisible();
    }, SLOW_WAIT);
    expect(await slider.inputValue()).toBe("60");
    await moves("change");
    await lamp.locator("dd", { hasText: "60 %" }).waitFor();
  });

  test("what a reading was is drawn when it is opened, for a day or a week", async () => {
    await publisher.report("hall-sensor-2", { temperature: 21.5 });
    await publisher.report("hall-sensor-2", { temperature: 24.5 });
    const room = await open("hall sensor 2", "Hall sensor 2");
    await room.getByText("History", { exact: true }).click();
    const drawing = room.getByRole("img", { name: /: 19 – 24\.5 °C$/ });
    await drawing.waitFor();
    expect(await drawing.locator("path.line").getAttribute("d")).toMatch(/^M.*L/);
    await room.getByRole("button", { name: "7 days" }).click();
    await expect
      .poll(() => room.getByRole("button", { name: "7 days" }).getAttribute("aria-pressed"))
      .toBe("true");
    await drawing.waitFor();
    expect(await axeFinds(page)).toEqual([]);
    expect(await isTooWide()).toBe(false);
  });

  test("a device that does not report what it was told is never told as done", async () => {
    const silent = (await devices.list()).find(({ name }) => name === "Silent Hall");
    expect(silent).toBeDefined();
    if (silent) await devices.allow(silent);
    const plug = await open("silent hall", "Silent Hall");
    await plug.getByRole("button", { name: "On: Silent Hall" }).click();
    await plug.getByText(/^sent, not confirmed in /).waitFor({ timeout: 40_000 });
    expect(await plug.textContent()).toMatch(/not confirmed/);
    expect(await plug.textContent()).not.toMatch(/\bdone\b/);
  });

  test("a name and an area of one's own, what is allowed, and a device that has changed since", async () => {
    await open("cellar switch 1", "Cellar switch 1");
    const settings = page.getByRole("form", { name: "Settings of Cellar switch 1" });
    await settings.getByLabel("Name").fill("Wine cooler");
    await settings.getByLabel("Area").fill("Wine cellar");
    await settings.getByLabel("What is allowed").selectOption("allowed");
    await settings.getByRole("button", { name: "Save" }).click();
    const cooler = shown("Wine cooler");
    await cooler.getByText(/^Allowed by anna/).waitFor();
    await cooler.getByText("Everybody in this home, unasked").waitFor();
    await cooler.getByRole("button", { name: "On: Wine cooler" }).click();
    await cooler.getByText(/^done, and confirmed by its state in /).waitFor();

    await publisher.describe("cellar-switch-1", "switch", "Cellar switch 1", "Cellar", {
      ...plug("cellar-switch-1"),
      payload_on: "OPEN",
    });
    await expect
      .poll(async () => {
        await refresh();
        return await cooler.getByText(/has changed since you allowed it/).count();
      }, SLOW)
      .toBe(1);
    expect(await axeFinds(page)).toEqual([]);
    await cooler.getByRole("button", { name: "Allow it again" }).click();
    await cooler.getByText(/has changed since you allowed it/).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Back to all devices" }).click();
    await page.locator("summary", { hasText: "Wine cellar" }).waitFor();
  });

  test("a permission that ends while a device's settings are open is not given again with a new name", async () => {
    const id = "cellar-switch-4";
    const plug = (await devices.list()).find((device) => device.id === id);
    if (plug) await devices.allow(plug);
    await open("cellar switch 4", "Cellar switch 4");
    const settings = page.getByRole("form", { name: "Settings of Cellar switch 4" });
    const mode = settings.getByLabel("What is allowed");
    await expect.poll(() => mode.inputValue()).toBe("allowed");
    const body = JSON.stringify({ mode: "ask" });
    expect((await stack.gateway.fetch(`/v1/devices/${id}`, { method: "PATCH", body })).ok).toBe(true);
    await refresh();
    await settings.getByLabel("Name").fill("Boiler");
    const sent = page.waitForRequest((request) => request.method() === "PATCH");
    await settings.getByRole("button", { name: "Save" }).click();
    expect((await sent).postDataJSON()).toEqual({ name: "Boiler" });
    await shown("Boiler").waitFor();
    expect((await devices.list()).find((device) => device.id === id)?.mode).toBe("ask");
    // The other fields follow the device.
    expect(await page.getByLabel("What is allowed").inputValue()).toBe("ask");
  });

  test("a permission stands on the device's page, in Setup and in the record, and ends where it is listed", async () => {
    const id = "hall-switch-1";
    const setOn = () => script(action(id, "set", { on: true }), { text: "on" });
    const turn = stack.gateway.ask(setOn(), "permitted");
    const question = await stack.gateway.question("permitted");
    const answer = JSON.stringify({ answer: "approve", keep: { offer: "always" } });
    await stack.gateway.fetch(`/v1/questions/${question.id}`, { method: "POST", body: answer });
    await turn;
    // It asks no more.
    expect(await stack.gateway.ask(setOn(), "permitted-again")).toMatchObject({ answer: "on" });

    const device = await open("hall switch 1", "Hall switch 1");
    const end = device.getByRole("button", { name: /^End: Without a question: set / });
    await end.waitFor();
    await device.getByText(/^for you, until .*; you allowed it on /).waitFor();
    expect(await device.getByText("what is not named above asks").count()).toBe(1);
    expect(await axeFinds(page)).toEqual([]);

    await page.evaluate(`location.hash = "#/record"`);
    const calls = page.getByRole("row").filter({ hasText: "Hall switch 1" });
    await calls.getByText(/^by your permission of /).waitFor();
    expect(await calls.getByText(/^You said yes\./).count()).toBe(1);

    await page.evaluate(`location.hash = "#/setup/permissions"`);
    const listed = page.getByRole("button", { name: /^End: Hall switch 1: set / });
    await listed.waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await listed.click();
    // Those of other tests stand.
    await listed.waitFor({ state: "detached" });
    await open("hall switch 1", "Hall switch 1");
    await device.getByText("Everybody else asks").waitFor();
    expect(await end.count()).toBe(0);
    expect(await device.getByText("what is not named above asks").count()).toBe(0);
  });

  test("a device that is away says so, and one that was forgotten is gone", async () => {
    await publisher.away("attic-sensor-2");
    const gone = await open("attic sensor 2", "Attic sensor 2");
    await expect
      .poll(async () => {
        await refresh();
        return await gone.locator("header strong").textContent();
      }, SLOW)
      .toBe("Offline");
    await gone.getByText("not available").first().waitFor();
    await gone.getByRole("button", { name: "Forget Attic sensor 2" }).click();
    await gone.getByRole("button", { name: "Yes, forget" }).click();
    await gone.waitFor({ state: "detached" });
  });

  test("a desktop shows the list and one of it side by side, at every width", async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await open("kitchen light 6", "Kitchen light 6");
    expect(await rows().first().isVisible()).toBe(true);
    for (const width of [360, 390, 820, 1280, 1600]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await isTooWide(), String(width)).toBe(false);
    }
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFinds(page), colorScheme).toEqual([]);
      if (PICTURES)
        await page.screenshot({ path: join(PICTURES, `console-devices-1280-${colorScheme}.png`) });
    }
  });

  test("Home: a closed area but for what needs a look, chips that lead to lists, a press that acts", async () => {
    await page.setViewportSize(PHONE);
    await openScreen(page, "Home");
    const kitchen = page.getByRole("region", { name: "Kitchen" });
    await kitchen.getByRole("button", { name: "Open" }).click();
    expect(await kitchen.locator(".tile").count()).toBe(4);
    // Lit since the test above: it was allowed then.
    const lit = kitchen.getByRole("button", { name: "Light 3" });
    expect(await lit.getAttribute("aria-pressed")).toBe("true");
    await lit.click();
    await expect.poll(() => lit.getAttribute("aria-pressed"), SLOW).toBe("false");
    // What is offline stands among what needs a look, and its tile cannot be pressed.
    await page.getByText("Half: Offline").waitFor();
    const chip = page
      .getByRole("list", { name: "The home at a glance" })
      .getByRole("link", { name: /lights? on/ });
    await chip.click();
    await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
    expect(await rows().filter({ hasNotText: "Light" }).count()).toBe(0);
  });

  test("Home fits every width, in both themes, in large text, in forced colours, without motion", async () => {
    await openScreen(page, "Home");
    await page.getByRole("region", { name: "Kitchen" }).waitFor();
    const overflow = () =>
      page.evaluate(
        "[document.documentElement, document.querySelector('main')].map((one) => one.scrollWidth - one.clientWidth)",
      );
    for (const width of [360, 390, 820, 1280, 1600]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await overflow(), String(width)).toEqual([0, 0]);
    }
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const size of [PHONE, { width: 1280, height: 800 }]) {
        await page.setViewportSize(size);
        expect(await axeFinds(page), colorScheme).toEqual([]);
        if (PICTURES)
          await page.screenshot({ path: join(PICTURES, `console-home-${size.width}-${colorScheme}.png`) });
      }
    }
    await page.emulateMedia({ colorScheme: "light", forcedColors: "active", reducedMotion: "reduce" });
    expect(await axeFinds(page), "forced colours").toEqual([]);
    const edges = await page
      .locator(".area-card")
      .first()
      .evaluate((card) => (globalThis as unknown as Styles).getComputedStyle(card).borderTopWidth);
    expect(edges).toBe("1px");
    await page.emulateMedia({ forcedColors: "none" });
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await overflow(), `200 % at ${width}`).toEqual([0, 0]);
    }
    await page.evaluate("document.documentElement.style.fontSize = ''");
  });

  test("a gateway that is gone says so within 5 s, and when it is back nothing says so any more", async () => {
    await page.setViewportSize(PHONE);
    await page.context().setOffline(true);
    await page.getByText(/^No connection since /).waitFor({ timeout: 5_000 });
    expect(await axeFinds(page)).toEqual([]);
    await page.context().setOffline(false);
    // It tries by itself.
    await page.getByText(/^No connection since /).waitFor({ state: "detached" });
  });
});
