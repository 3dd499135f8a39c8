/**
 * Measures the first paint of the console's Home with 200 devices of the broker in areas, over that of an empty page of the same gateway
 * in the same browser: Chromium, without a delay on the way.
 */
import { existsSync } from "node:fs";
import { connectAsync } from "mqtt";
import { chromium, type Page } from "playwright-core";
import { TOKENS, testVars } from "../../test/tokens.ts";
import { until } from "../../test/wait.ts";
import { MissingProgram, startMosquitto } from "../mosquitto.ts";
import type { Processes } from "../processes.ts";
import { startBenchBridge, startBenchWorker } from "../started.ts";
import { median } from "../stats.ts";

const DEVICES = 200;
const AREAS = ["Attic", "Bathroom", "Bedroom", "Cellar", "Garden", "Hall", "Kitchen", "Living room"];
const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** Nothing is in it but a line of text. */
const EMPTY = "/healthz";

/** Medians in ms since the navigation began, and the median of the rounds' ratios. */
export type FirstPaint = {
  devices: number;
  emptyMs: number;
  homeMs: number;
  signInMs: number;
  ratio: number;
};
type PagePlan = { rounds: number };

/** @throws MissingProgram without a Chromium */
export async function measureFirstPaint(
  dir: string,
  processes: Processes,
  { rounds }: PagePlan,
): Promise<FirstPaint> {
  if (!existsSync(BROWSER)) throw new MissingProgram(`Chromium is missing: ${BROWSER}; or set CHROMIUM`);
  const mqttUrl = await startMosquitto(dir, processes, "page-mosquitto");
  await describeDevices(mqttUrl);
  const { worker } = await startBenchWorker(dir, "page", { vars: testVars });
  await startBenchBridge(dir, processes, { gatewayUrl: worker.url, mqttUrl, name: "page-bridge" });
  const url = worker.url.replace("127.0.0.1", "localhost");
  await until(async () => (await devicesOf(url)) === DEVICES, {
    within: 60_000,
    what: "all devices are known",
  });
  const browser = await chromium.launch({
    executablePath: BROWSER,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    const signIn = await painted(page, `${url}/#/home`, ".sign-in input");
    await page.locator("input").first().fill(TOKENS.owner);
    await page.keyboard.press("Enter");
    await page.locator(HOME).first().waitFor();
    const samples: Array<{ empty: number; home: number }> = [];
    for (let round = 0; round <= rounds; round += 1) {
      const empty = await painted(page, `${url}${EMPTY}`, "body");
      const home = await painted(page, `${url}/#/home`, HOME);
      // The first one fills the browser's store of compiled scripts.
      if (round > 0) samples.push({ empty, home });
    }
    return {
      devices: DEVICES,
      emptyMs: median(samples.map(({ empty }) => empty)),
      homeMs: median(samples.map(({ home }) => home)),
      signInMs: signIn,
      ratio: median(samples.map(({ empty, home }) => home / empty)),
    };
  } finally {
    await browser.close();
    await worker.stop();
  }
}

/** The areas of Home; a placeholder has no name. */
const HOME = "section.area-card";

/** @returns ms from the navigation's start until the frame that has it is drawn */
async function painted(page: Page, url: string, selector: string): Promise<number> {
  // Another document first: a change of the hash alone loads nothing.
  await page.goto("about:blank");
  await page.goto(url, { waitUntil: "commit" });
  return await page.evaluate<number>(`new Promise((resolve) => {
    const look = () => document.querySelector(${JSON.stringify(selector)})
      ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
      : requestAnimationFrame(look);
    look();
  })`);
}

async function devicesOf(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/devices`, { headers: { authorization: `Bearer ${TOKENS.owner}` } });
  return ((await response.json()) as { devices: unknown[] }).devices.length;
}

async function describeDevices(mqttUrl: string): Promise<void> {
  const client = await connectAsync(mqttUrl);
  const retained = { retain: true, qos: 1 } as const;
  for (let n = 0; n < DEVICES; n += 1) {
    const id = `lamp-${n}`;
    const device = {
      identifiers: [id],
      name: `Lamp ${n}`,
      suggested_area: AREAS[n % AREAS.length],
    };
    const topics = { state_topic: `home/${id}/state`, command_topic: `home/${id}/set` };
    const config = { unique_id: id, name: null, device, schema: "json", brightness: true, ...topics };
    await client.publishAsync(`homeassistant/light/${id}/config`, JSON.stringify(config), retained);
    const state = { state: n % 3 === 0 ? "ON" : "OFF", brightness: 120 };
    await client.publishAsync(`home/${id}/state`, JSON.stringify(state), retained);
  }
  await client.endAsync();
}
