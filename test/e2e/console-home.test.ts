/** The demo home in the console: what is new, by keyboard alone, what a screen reader says, and a gateway that is gone. */
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { axeFinds, openWindow, signIn, startChromium } from "./chromium.ts";
import { action } from "./edge-calls.ts";
import type { Question } from "./gateway-client.ts";
import { useShownHome } from "./shown-home.ts";
import { WireTap } from "./wire-tap.ts";

const { stack, house, questionOf } = useShownHome();
/** Rules are asked for each 15 s, and a message waits for others for up to 30 s. */
const TOLD = { timeout: 75_000 };

/** The focused element: its name, whether it is seen, and whether it looks focused. */
const FOCUS = `(() => {
  const at = document.activeElement;
  const { left, right, top, bottom } = at.getBoundingClientRect();
  const { outlineStyle, outlineWidth } = getComputedStyle(at);
  const ring = getComputedStyle(at.closest(".ask") ?? at).boxShadow;
  return {
    name: (at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent).trim().replace(/\\s+/g, " "),
    href: at.getAttribute("href") ?? "",
    isInside: left >= -1 && right <= innerWidth + 1 && bottom > 0 && top < innerHeight,
    isMarked: (outlineStyle !== "none" && outlineWidth !== "0px") || (at.closest(".ask") !== null && ring !== "none"),
  };
})()`;
type Focus = { name: string; href: string; isInside: boolean; isMarked: boolean };

/** True if the toast, over the screen's head, leaves the home itself free: chips stand first in a calm one. */
async function endsAboveHome(page: Page): Promise<boolean> {
  const [toast, home] = await Promise.all([
    page.getByRole("status").locator(".toast").first().boundingBox(),
    page.locator(".home").boundingBox(),
  ]);
  return toast !== null && home !== null && toast.y >= 0 && toast.y + toast.height <= home.y;
}

describe("the home in the console", { tags: ["needs/chromium"], timeout: 120_000 }, () => {
  let browser: Browser;
  let page: Page;
  let other: Page;
  beforeAll(async () => {
    browser = await startChromium();
    page = await openWindow(browser);
    other = await openWindow(browser);
    for (const one of [page, other]) {
      await signIn(one, stack.gateway.url, TOKENS.owner, "#/home");
      await one.locator(".area-card .tile").first().waitFor();
    }
  });
  afterAll(() => browser?.close());

  const bell = (of: Page) => of.locator(".bell > button");
  const chats = () => page.getByRole("link", { name: "Chats", exact: true });

  test("what a rule tells comes as a toast, is counted at the bell and in the title, and is marked until it is seen", async () => {
    // Chats opens the conversation that was open there.
    await page.evaluate(`location.hash = "#/chat/answered"`);
    await page.locator(".turn .answer").first().waitFor();
    await page.evaluate(`location.hash = "#/home"`);
    await expect.poll(() => page.title()).toBe("(4) Home · edgecall");
    expect(await bell(page).getAttribute("aria-label")).toBe("News");
    house().change("Freezer", { temperature: -14.2 });
    const toast = page.getByRole("status").locator(".toast");
    await toast
      .getByText(/Freezer/)
      .first()
      .waitFor(TOLD);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => endsAboveHome(page)).toBe(true);
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await axeFinds(page)).toEqual([]);
    expect(await bell(page).getAttribute("aria-label")).toBe("News, 1 unread");
    expect(await bell(page).textContent()).toBe("1");
    expect(await page.title()).toBe("(5) Home · edgecall");
    // It goes by itself.
    await toast.waitFor({ state: "detached" });

    // Its conversation is the first, with a mark.
    await chats().locator(".waits-dot").waitFor();
    await chats().click();
    const first = page.getByRole("complementary", { name: "Conversations" }).getByRole("listitem").first();
    await first.getByText("freezer").waitFor();
    expect(await first.textContent()).toMatch(/, unread$/);
    expect(await axeFinds(page)).toEqual([]);
    await first.getByRole("button").click();
    await page.locator(".turn .said").first().waitFor();
    await expect.poll(() => bell(page).getAttribute("aria-label")).toBe("News");
    await expect.poll(() => page.title()).toBe("(4) Chats · edgecall");
    expect(await chats().locator(".waits-dot").count()).toBe(0);
  });

  test("the bell lists it, marked as new where it was not seen; another visit shows no toast of it", async () => {
    const isUnread = () =>
      expect.poll(() => bell(other).getAttribute("aria-label"), TOLD).toBe("News, 1 unread");
    await isUnread();
    // Opened before it is loaded, it has shown nothing.
    const opened = Promise.withResolvers<void>();
    const late = async (route: Route) => {
      await opened.promise;
      await route.continue();
    };
    await other.route(/\/v1\/rules$/, late, { times: 1 });
    await other.reload();
    const list = other.getByRole("region", { name: "News" });
    await bell(other).click();
    await list.waitFor();
    await bell(other).click();
    await list.waitFor({ state: "detached" });
    opened.resolve();
    await isUnread();
    await bell(other).click();
    await list
      .locator(".event.new")
      .getByText(/Freezer/)
      .first()
      .waitFor();
    expect(await list.locator(".event.new").textContent()).toMatch(/new$/);
    expect(await axeFinds(other)).toEqual([]);
    expect(await bell(other).getAttribute("aria-label")).toBe("News");
    await other.keyboard.press("Escape");
    await list.waitFor({ state: "detached" });
    expect(await other.evaluate("document.activeElement.closest('.bell') !== null")).toBe(true);
    await other.reload();
    await other.locator(".area-card .tile").first().waitFor();
    await bell(other).click();
    await list
      .locator(".event")
      .getByText(/Freezer/)
      .first()
      .waitFor();
    expect(await list.locator(".event.new").count()).toBe(0);
    expect(await other.locator(".toast").count()).toBe(0);
    await other.keyboard.press("Escape");
  });

  test("a screen reader is told the same sentence as the card has, and what belongs to it", async () => {
    const response = await stack.gateway.fetch("/v1/questions");
    const { questions } = (await response.json()) as { questions: Question[] };
    expect(questions).toHaveLength(4);
    for (const { id, text, conversation } of questions) {
      const sentence = text.split("\n", 1)[0] ?? "";
      await page.evaluate(`location.hash = "#/waiting/${id}"`);
      const sheet = page.locator("dialog[open]");
      await sheet.getByText(sentence, { exact: true }).waitFor();
      const heard = await sheet.ariaSnapshot();
      expect(heard.split("\n")[0], conversation).toBe(`- dialog ${JSON.stringify(sentence)}:`);
      const shown = await sheet.locator(".sentence").textContent();
      expect(shown).toBe(sentence);
      // In the order in which it is read: who asked, and the two answers at the end.
      const at = [/You asked|program of yours asked/, /button "No/].map((words) => heard.search(words));
      expect(
        at.every((one, n) => one > (at[n - 1] ?? 0)),
        heard,
      ).toBe(true);
      await page.evaluate(`location.hash = "#/chat/${conversation}"`);
      await expect.poll(() => page.locator("main p.unseen[role=status]").textContent()).toBe(sentence);
    }
  });

  async function focused(): Promise<Focus> {
    return await page.evaluate<Focus>(FOCUS);
  }

  /** Presses Tab until it is reached. Each stop on the way is seen, and looks focused. */
  async function tabTo(wanted: (at: Focus) => boolean, what: string): Promise<void> {
    const stops: string[] = [];
    for (let tabs = 0; tabs < 120; tabs += 1) {
      await page.keyboard.press("Tab");
      const at = await focused();
      // Behind the last one is the browser itself.
      if (at.name === "" && at.href === "") continue;
      stops.push(at.name.slice(0, 30));
      expect(at, `stop ${stops.length}`).toMatchObject({ isInside: true, isMarked: true });
      if (wanted(at)) return;
    }
    throw new Error(`Tab does not lead to ${what}, but to: ${stops.join(" | ")}`);
  }
  const named = (name: string) => (at: Focus) => at.name === name;

  test("by keyboard: from Home to a question, its answer, a device and its switch", async () => {
    await page.evaluate(`location.hash = "#/home"`);
    await page.getByRole("region", { name: "Kitchen" }).locator("button.tile").first().waitFor();
    const isLit = house().get("Counter light").on;
    await tabTo(({ name }) => name.endsWith("Counter light"), "the counter light");
    await page.keyboard.press("Enter");
    await expect.poll(() => house().get("Counter light").on, { timeout: 30_000 }).toBe(!isLit);

    await page.reload();
    await page.locator(".waits-card").waitFor();
    await tabTo(({ href }) => href.startsWith("#/waiting/"), "the first question");
    const asked = `#/waiting/${questionOf("plug")}`;
    for (let more = 0; (await focused()).href !== asked && more < 4; more += 1)
      await tabTo(({ href }) => href.startsWith("#/waiting/"), "another question");
    await page.keyboard.press("Enter");
    const sheet = page.getByRole("dialog", { name: "Switch Washing machine off?", exact: true });
    await sheet.waitFor();
    await tabTo(named("No"), "No");
    await page.keyboard.press("Enter");
    await sheet.waitFor({ state: "detached" });
    // The sheet is gone, and so is what opened it: the focus is on the screen.
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("main");

    await page.evaluate(`location.hash = "#/devices"`);
    const fan = page.getByRole("switch", { name: "Bathroom fan" });
    await fan.waitFor();
    const isOn = await fan.isChecked();
    await tabTo(named("Bathroom fan"), "the fan's switch");
    await page.keyboard.press("Space");
    await expect.poll(() => fan.isChecked(), { timeout: 30_000 }).toBe(!isOn);
    await tabTo(({ href }) => href === "#/devices/kitchen-light", "the kitchen light");
    await page.keyboard.press("Enter");
    await page.getByRole("article", { name: "Kitchen light" }).waitFor();
    expect(await axeFinds(page)).toEqual([]);
  });

  test("what its sentence says whole, and does no harm, is answered on Home by one tap; the rest is read first", async () => {
    const text = "The laundry is in, start the dryer.";
    stack.model.written.set(text, [action("dryer", "set", { on: true })]);
    await stack.gateway.begin(text, "dryer");
    await page.evaluate(`location.hash = "#/waiting"`);
    const row = (sentence: string) => page.locator(".wait-row").filter({ hasText: sentence });
    const dryer = row("Switch Dryer on?");
    await dryer.waitFor();
    expect(await dryer.getByRole("button").count()).toBe(2);
    const lock = row("Unlock Front door?");
    expect(await lock.getByRole("button").count()).toBe(0);
    expect(await lock.getByRole("link", { name: /^Read it: / }).getAttribute("href")).toBe(
      `#/waiting/${questionOf("lock")}`,
    );
    expect(house().get("Dryer").on).toBe(false);
    await page.evaluate(`location.hash = "#/home"`);
    // Home has the oldest three; two of them are read first.
    expect(await page.locator(".waits-card .wait-row").count()).toBe(3);
    await page.evaluate(`location.hash = "#/waiting"`);
    await dryer.getByRole("button").last().click();
    await dryer.waitFor({ state: "detached" });
    await expect.poll(() => house().get("Dryer").on, { timeout: 30_000 }).toBe(true);
  });

  test("what a yes allows from now on is said where it was given, with the way back", async () => {
    const text = "The laundry is dry, stop the dryer.";
    stack.model.written.set(text, [action("dryer", "set", { on: false })]);
    await stack.gateway.begin(text, "dryer");
    await page.evaluate(`location.hash = "#/waiting"`);
    await page.getByRole("link", { name: "Switch Dryer off?", exact: true }).click();
    const sheet = page.getByRole("dialog", { name: "Switch Dryer off?", exact: true });
    await sheet.getByText("You asked", { exact: true }).waitFor();
    const always = sheet.getByRole("radio", { name: /^Don't ask for this on this device/ });
    await always.check();
    await sheet.getByText(/^on and off; for you, until /).waitFor();
    await sheet.getByRole("button", { name: "Switch off", exact: true }).click();
    const toast = page.getByRole("status").locator(".toast.permission");
    await toast.getByText("Not asked any more: Switch Dryer off?").waitFor();
    await toast.getByText(/^on and off; for you, until /).waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await page.evaluate(`location.hash = "#/home"`);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => endsAboveHome(page)).toBe(true);
    await page.setViewportSize({ width: 1280, height: 800 });
    await toast.getByRole("button", { name: "Undo" }).click();
    await toast.getByText("It asks again.").waitFor();
    const listed = await stack.gateway.fetch("/v1/permissions");
    const { permissions } = (await listed.json()) as { permissions: Array<{ device: string }> };
    expect(permissions.filter(({ device }) => device === "dryer")).toEqual([]);
  });

  test("a line that stays open and brings nothing is said within 5 s; when it carries again, nothing says so any more", async () => {
    const line = await WireTap.open(stack.gateway.url);
    const far = await openWindow(browser);
    await signIn(far, line.url.replace("127.0.0.1", "localhost"), TOKENS.owner, "#/home");
    await far.locator(".area-card .tile").first().waitFor();
    const banner = far.getByRole("status").getByText(/^No connection since /);
    // It is not said of one that answers.
    await far.waitForTimeout(6_000);
    expect(await banner.count()).toBe(0);
    line.die({ newToo: true });
    await banner.waitFor({ timeout: 5_000 });
    line.live();
    await banner.waitFor({ state: "detached", timeout: 20_000 });
    await far.close();
    await line.close();
  });

  test("a gateway that is killed is said within 5 s; when it is back, nothing says so any more", async () => {
    await page.evaluate(`location.hash = "#/home"`);
    await page.locator(".area-card .tile").first().waitFor();
    stack.worker.signal("SIGKILL");
    await stack.worker.gone;
    const banner = page.getByRole("status").getByText(/^No connection since /);
    await banner.waitFor({ timeout: 5_000 });
    // What was there stays.
    expect(await page.locator(".area-card .tile").count()).toBeGreaterThan(8);
    expect(await axeFinds(page)).toEqual([]);
    await stack.startWorker();
    await banner.waitFor({ state: "detached", timeout: 20_000 });
  });
});
