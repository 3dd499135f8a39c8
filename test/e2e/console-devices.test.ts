// @module-tag needs/mosquitto
/** The console's screen of the broker's devices: eighty of them, in areas, on a phone and on a desktop. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAsync, type MqttClient } from "mqtt";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { axeFinds, openWindow, PHONE, signIn, useChromium } from "./chromium.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const PICTURES = process.env.PICTURES === "1" ? join(ROOT, "docs/pictures") : undefined;
const AREAS = ["Attic", "Bathroom", "Bedroom", "Cellar", "Garden", "Hall", "Kitchen", "Living room"];
const IN_EACH = 10;
/** The gateway is told of a publisher's words when its burst is over. */
const SLOW = { timeout: 20_000 };

type Config = Record<string, unknown>;

const stack = useStack({
  mosquitto: findMosquitto(),
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
    const screens = page.getByRole("navigation");
    // Coming from another screen, it has nothing of the test before.
    await screens.getByRole("link", { name: "Metrics" }).click();
    await page.getByRole("heading", { name: "Metrics", level: 1 }).waitFor();
    await screens.getByRole("link", { name: "Devices" }).click();
    await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
  };
  const find = async (words: string) => {
    await page.getByRole("searchbox", { name: "Search devices" }).fill(words);
    await page.getByText(/^\d+ found$/).waitFor();
  };
  const card = (name: string) => page.getByRole("article", { name, exact: true });
  const refresh = () => page.getByRole("button", { name: "Refresh" }).click();
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
    await page.getByText(`${AREAS.length * IN_EACH} of ${AREAS.length * IN_EACH} online`).waitFor();
    const areas = page.locator("details.area");
    expect(await areas.locator("h2").allTextContents()).toEqual(AREAS);
    expect(await page.getByRole("article").count()).toBe(0);
    await page.locator("summary", { hasText: "Kitchen" }).click();
    await expect.poll(() => page.getByRole("article").count()).toBe(IN_EACH);
    const warm = card("Kitchen sensor 2");
    await warm.getByText("19 °C").waitFor();
    expect(await warm.textContent()).toMatch(/just now|s ago|min ago/);
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
    expect(await page.getByRole("article").count()).toBe(0);
    await find("garden light 3");
    await card("Garden light 3").waitFor();
    expect(await page.getByRole("article").count()).toBe(1);
  });

  test("the first change asks the person, and the device's own state confirms it", async () => {
    await openDevices();
    await find("kitchen light 3");
    const lamp = card("Kitchen light 3");
    await lamp.getByText("off", { exact: true }).waitFor();
    await lamp.getByRole("button", { name: "On: Kitchen light 3" }).click();
    await lamp.getByText(/first change of this device/).waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await lamp.getByRole("button", { name: "Approve" }).click();
    await lamp.getByText(/^done, and confirmed by its state in /).waitFor();
    await lamp.locator(".readings").getByText("on", { exact: true }).waitFor();
    expect(await lamp.getByRole("button", { name: "On: Kitchen light 3" }).getAttribute("aria-pressed")).toBe(
      "true",
    );

    // It is allowed now, so its brightness is changed without a question.
    const slider = lamp.getByRole("slider", { name: "brightness of Kitchen light 3" });
    expect(await slider.inputValue()).toBe("40");
    await slider.fill("70");
    await lamp.locator(".readings").getByText("70 %").waitFor();
    expect(await lamp.getByRole("button", { name: "Approve" }).count()).toBe(0);
  });

  test("a device that does not report what it was told is never told as done", async () => {
    await openDevices();
    const silent = (await devices.list()).find(({ name }) => name === "Silent Hall");
    expect(silent).toBeDefined();
    if (silent) await devices.allow(silent);
    await refresh();
    await find("silent hall");
    const plug = card("Silent Hall");
    await plug.getByRole("button", { name: "On: Silent Hall" }).click();
    await plug.getByText(/^sent, not confirmed in /).waitFor({ timeout: 40_000 });
    expect(await plug.textContent()).toMatch(/not confirmed/);
    expect(await plug.textContent()).not.toMatch(/\bdone\b/);
  });

  test("a name and an area of one's own, what is allowed, and a device that has changed since", async () => {
    await openDevices();
    await find("cellar switch 1");
    await page.getByRole("button", { name: "More of Cellar switch 1" }).click();
    const settings = page.getByRole("form", { name: "Settings of Cellar switch 1" });
    await settings.getByLabel("Name").fill("Wine cooler");
    await settings.getByLabel("Area").fill("Wine cellar");
    await settings.getByLabel("What is allowed").selectOption("allowed");
    await settings.getByRole("button", { name: "Save" }).click();
    await find("wine cooler");
    await page.locator("summary", { hasText: "Wine cellar" }).waitFor();
    const cooler = card("Wine cooler");
    await cooler.getByText(/^Allowed by anna/).waitFor();
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
  });

  test("a device that is away says so, and one that was forgotten is gone", async () => {
    await publisher.away("attic-sensor-2");
    await openDevices();
    await find("attic sensor 2");
    const gone = card("Attic sensor 2");
    await expect
      .poll(async () => {
        await refresh();
        return await gone.locator(".state").textContent();
      }, SLOW)
      .toBe("offline");
    await page.getByRole("button", { name: "More of Attic sensor 2" }).click();
    await gone.getByText("unavailable").first().waitFor();
    await gone.getByRole("button", { name: "Forget Attic sensor 2" }).click();
    await gone.getByRole("button", { name: "Yes, forget" }).click();
    await gone.waitFor({ state: "detached" });
  });

  test("a desktop shows the areas in columns", async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await openDevices();
    for (const area of ["Kitchen", "Living room"]) await page.locator("summary", { hasText: area }).click();
    expect(await isTooWide()).toBe(false);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFinds(page), colorScheme).toEqual([]);
      await page.locator("summary", { hasText: "Kitchen" }).scrollIntoViewIfNeeded();
      if (PICTURES)
        await page.screenshot({ path: join(PICTURES, `console-devices-1280-${colorScheme}.png`) });
    }
  });
});
