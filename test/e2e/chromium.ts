/** The system's Chromium for tests of the console, as a person uses it but without a window. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, chromium, type Locator, type Page, type Route } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

const PATH = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** As root it has no sandbox, which is acceptable because it opens only our own pages. */
export function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: PATH, args: ["--no-sandbox", "--disable-gpu"] });
}

/** Starts a browser for the tests of a `describe`, and closes it after them. @param prepare opens the first windows */
export function useChromium(prepare: (browser: Browser) => Promise<void>): void {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await startChromium();
    await prepare(browser);
  });
  afterAll(() => browser?.close());
}

/** @returns the gateway's address as its page has it: a browser that opens 127.0.0.1 is sent to localhost, where passkeys can be */
export function addressInBrowser(url: string): string {
  return url.replace("127.0.0.1", "localhost");
}

export const PHONE = { width: 390, height: 844 };

/** Opens a window like one on another machine: it shares no session with other windows. */
export async function openWindow(browser: Browser, viewport = { width: 1280, height: 800 }): Promise<Page> {
  const page = await browser.newPage({ viewport });
  page.setDefaultTimeout(15_000);
  return page;
}

/** Waits for an answer that the page has read to its end. One that the page gave up, for a newer one, may never be finished. */
export async function answerRead(page: Page, address: RegExp): Promise<void> {
  await page.waitForEvent("requestfinished", (request) => address.test(request.url()));
}

/**
 * The gateway answers the next request for this address, and the page gets the answer when it is passed on.
 * @returns `read`: the gateway has answered
 */
export async function holdAnswer(
  page: Page,
  address: RegExp,
): Promise<{ read: Promise<void>; pass: () => void }> {
  const read = Promise.withResolvers<void>();
  const passed = Promise.withResolvers<void>();
  const hold = async (route: Route) => {
    const response = await route.fetch();
    read.resolve();
    await passed.promise;
    await route.fulfill({ response });
  };
  await page.route(address, hold, { times: 1 });
  return { read: read.promise, pass: passed.resolve };
}

/** Asks on the chat screen. @returns the turn on the page */
export async function askIn(page: Page, text: string): Promise<Locator> {
  await page.getByLabel("Message").fill(text);
  await page.getByRole("button", { name: "Ask" }).click();
  return page.locator(".turn").last();
}

/**
 * Returns axe-core's findings on the present page. The browser's own console runs it, so the page's policy does not
 * apply.
 */
export async function axeFinds(page: Page): Promise<unknown[]> {
  await page.evaluate(AXE);
  return await page.evaluate(RUN_AXE);
}

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const RUN_AXE = `axe.run().then(({ violations }) =>
  violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0]?.html, why: nodes[0]?.failureSummary })))`;

/** @param place where the page is opened: most tests of the console begin in a conversation */
export async function signIn(page: Page, url: string, token: string, place = "#/chat"): Promise<void> {
  await page.goto(`${url}/${place}`);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Screens" }).waitFor();
  // A conversation is chosen by what there is then.
  if (place === "#/chat") await page.getByLabel("Message").waitFor();
}

/** Opens a screen, or a task of Setup, as a person does: a phone's bar has some of them behind More. */
export async function openScreen(page: Page, name: string): Promise<void> {
  const link = (within: Locator, called: string) => within.getByRole("link", { name: called, exact: true });
  const bar = page.getByRole("navigation", { name: "Screens" });
  const main = page.getByRole("main");
  const isScreen = ["Home", "Devices", "Chats", "Rules", "Record", "Setup"].includes(name);
  const screen = isScreen ? name : "Setup";
  if (await link(bar, screen).isVisible()) await link(bar, screen).click();
  else {
    await link(bar, "More").click();
    await main.getByRole("link", { name: screen }).click();
  }
  if (!isScreen) await main.getByRole("link", { name: new RegExp(`^${name}`) }).click();
}

/** Opens one thing on Devices. @param id of a machine or a device of the broker @returns its page */
export async function openDevice(page: Page, id: string): Promise<Locator> {
  await openScreen(page, "Devices");
  await page.locator(`a.hit[href="#/devices/${id}"]`).click();
  const shown = page.locator(".device-panel").getByRole("article");
  await shown.waitFor();
  return shown;
}

/** Opens the line of a call, as a person does, for its arguments and its result. */
export async function openCall(card: Locator): Promise<void> {
  await card.locator("summary").first().click();
  await card.locator("details[open]").first().waitFor();
}
