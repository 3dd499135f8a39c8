/** The console's rules that act: states, runs, values, pause, resume with its second tap, undo, delete; and who is at home. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DemoHome, startDemoHome } from "../../local/demo/demo.ts";
import { furnish } from "../../local/demo/furnish.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { ACTS_WITHIN_MS, ActingRules } from "./acting-rules.ts";
import { axeFinds, openWindow, PHONE, signIn, useChromium } from "./chromium.ts";
import { useStack } from "./stack.ts";

const LEAK = {
  name: "Leak, light on",
  when: [{ agent_id: "leak-sensor", reading: "Water leak", is: "equal", value: "wet" }],
  do: [{ agent_id: "reading-lamp", action: "set", parameters: { on: true } }],
  // A confirmed run without words is no news, and only news come into the record at once.
  say: "It leaks.",
};
/** Nothing but a person opens it again. */
const SHUT = {
  name: "Leak, water off",
  when: LEAK.when,
  do: [{ agent_id: "water-valve", action: "close" }],
};
/** What pumps asks twice. */
const PUMP = {
  name: "Water the garden",
  when: [{ agent_id: "office-thermometer", reading: "Temperature", is: "above", value: 35 }],
  do: [{ agent_id: "garden-pump", action: "set", parameters: { on: true } }],
  over: "off",
  at_most_minutes: 5,
};

const folder = mkdtempSync(join(tmpdir(), "edgecall-console-automations-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("rules that act in the console", { tags: ["needs/chromium"], timeout: 300_000 }, () => {
  const bridge = { BRIDGE_STATE: folder, PRESENCE: "Phone=phone:Home" };
  const stack = useStack({
    vars: { GATEWAY_TOOLS: "rules,history", TIMEZONE: "Europe/Berlin" },
    bridge,
  });
  const rules = new ActingRules(() => stack.gateway);
  let house: DemoHome;
  let page: Page;
  useChromium(async (browser) => {
    page = await openWindow(browser, PHONE);
  });

  beforeAll(async () => {
    house = await startDemoHome({ url: stack.mqttUrl, seed: 4 });
    await furnish({ url: stack.gateway.url, token: TOKENS.owner });
    await signIn(page, stack.gateway.url, TOKENS.owner);
  }, 120_000);
  afterAll(() => house?.stop());

  /** The button has the run's time before the rule's name. */
  const undoOf = (name: string) => new RegExp(`^Undo: .*: ${name}$`);
  const card = (name: string) => page.getByRole("region", { name });
  const look = () => page.getByRole("button", { name: "Refresh" }).click();
  const runsOf = async (wanted: string) =>
    (await rules.list()).find(({ name }) => name === wanted)?.now?.runs ?? [];
  /** The screen asks again by itself, each 15 s. */
  const shows = async (name: string, text: string | RegExp) =>
    await card(name).getByText(text).first().waitFor({ timeout: ACTS_WITHIN_MS });
  const fits = async () => {
    expect(await axeFinds(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    const beside = await page.evaluate(
      "[document.documentElement, document.querySelector('main')].map((one) => one.scrollWidth - one.clientWidth)",
    );
    expect(beside).toEqual([0, 0]);
    await page.setViewportSize(PHONE);
  };

  test("without one, sentences to try are there", async () => {
    await page.getByRole("link", { name: "Rules" }).click();
    await page.getByText("When the leak sensor is wet, close the water valve.").waitFor();
    await card("Who is at home").getByText("Somebody is at home.").waitFor();
    await card("Who is at home").getByText("Phone").waitFor();
    await fits();
  });

  test("a rule has its card's words, its state and the values now", async () => {
    await rules.make("console", [LEAK, SHUT, PUMP]);
    await look();
    await shows(LEAK.name, "ready");
    await shows(LEAK.name, "It has not run yet.");
    await shows(LEAK.name, /^When: Leak sensor/);
    await shows(LEAK.name, /^Now: .*dry/);
    await shows(LEAK.name, /^As you allowed it, .*:$/);
    await shows(PUMP.name, /Garden pump/);
    await fits();
  });

  test("a run says why, how each step ended and when; its values are drawn, with the run; undo takes it back", async () => {
    house.happen("leak");
    await shows(LEAK.name, "done");
    await shows(LEAK.name, /because .*wet/);
    await shows(LEAK.name, /^confirmed, /);
    await card(LEAK.name).getByText("Values").click();
    await card(LEAK.name).getByRole("img").first().waitFor();
    await card(LEAK.name).getByText("1 run").first().waitFor();
    // In the words that stand beside "Now".
    await card(LEAK.name)
      .getByText(/^Wet · /)
      .waitFor();
    await fits();
    expect(house.get("Reading lamp").on).toBe(true);
    house.happen("leak dried");
    await rules.armed();
    house.happen("leak");
    // This one finds the lamp on, so the undo is of the run before.
    await until(async () => (await runsOf(LEAK.name)).length === 2, { within: ACTS_WITHIN_MS, every: 250 });
    expect((await runsOf(LEAK.name)).map(({ undo = false }) => undo).toSorted()).toEqual([false, true]);
    await look();
    // The newest stands above, the one before is folded below it.
    await card(LEAK.name).locator("summary", { hasText: "1 run" }).click();
    const undo = page.getByRole("button", { name: undoOf(LEAK.name) });
    // It names the time of the run that it takes back.
    expect(await undo.textContent()).toMatch(/^Undo: .*\d:\d\d/);
    await undo.click();
    await shows(LEAK.name, "undone");
    expect(house.get("Reading lamp").on).toBe(false);
    await undo.waitFor({ state: "detached" });
  });

  test("Home and the record name the rule for what it did; when it is dry the rule says what it waits for", async () => {
    await shows(LEAK.name, "it is so already, and runs the next time");
    house.happen("leak dried");
    const state = async () => {
      await look();
      return await card(LEAK.name).locator(".badge").textContent();
    };
    const within = { timeout: ACTS_WITHIN_MS, interval: 100 };
    await expect.poll(state, within).toMatch(/^ready at \d.*, if it stays so$/);
    await shows(LEAK.name, /^Now: .*dry/);
    await page.evaluate(`location.hash = "#/home"`);
    const today = page.getByRole("complementary", { name: "Today" });
    await today.getByText(`${LEAK.name}: undone`).waitFor();
    await today
      .getByText(/^Reading lamp; because Leak sensor, .*wet$/)
      .first()
      .waitFor();
    await fits();
    await page.evaluate(`location.hash = "#/record"`);
    const line = page
      .getByRole("row")
      .filter({ hasText: `the rule “${LEAK.name}”` })
      .first();
    await line.waitFor();
    expect(await line.textContent()).not.toMatch(/a-[0-9a-f]{4}|rule:|over rule/);
    await page.evaluate(`location.hash = "#/setup/permissions"`);
    await page.getByText(`for the rule “${LEAK.name}”`).first().waitFor();
    await page.getByRole("link", { name: "Rules" }).click();
    await shows(LEAK.name, "ready");
  });

  test("a run whose way back is a way in has no undo, and stays done where one is asked for", async () => {
    await shows(SHUT.name, "done");
    expect(house.get("Water valve").open).toBe(false);
    expect(await page.getByRole("button", { name: undoOf(SHUT.name) }).count()).toBe(0);
    const rule = (await rules.list()).find(({ name }) => name === SHUT.name);
    for (const { firing } of await runsOf(SHUT.name)) {
      const body = JSON.stringify({ firing });
      const refused = await stack.gateway.fetch(`/v1/automations/${rule?.id}/undo`, { method: "POST", body });
      expect(refused.status).toBe(422);
      expect(await refused.json()).toMatchObject({
        error: { message: expect.stringMatching(/^[A-Z].*\.$/) },
      });
    }
    expect((await runsOf(SHUT.name)).map(({ state }) => state)).toEqual(["done", "done"]);
    expect(house.get("Water valve").open).toBe(false);
  });

  test("a paused one is resumed by its card and a second tap, with the keyboard alone", async () => {
    await page.getByRole("button", { name: `Pause: ${PUMP.name}` }).click();
    await shows(PUMP.name, "paused");
    await page.getByRole("button", { name: `Resume: ${PUMP.name}` }).focus();
    await page.keyboard.press("Enter");
    const again = page.getByRole("group", { name: `Allow this rule again?: ${PUMP.name}` });
    await again
      .getByText(/Garden pump/)
      .first()
      .waitFor();
    await again.getByRole("button", { name: "Allow", exact: true }).focus();
    await page.keyboard.press("Enter");
    await again.getByText("This may do harm, so it asks twice:").waitFor();
    // The page moves the focus after it has drawn the words.
    await page.locator(":focus", { hasText: /^This may do harm, so it asks twice:$/ }).waitFor();
    expect(await axeFinds(page)).toEqual([]);
    expect((await rules.list()).find(({ name }) => name === PUMP.name)?.status).toBe("paused");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await again.waitFor({ state: "detached" });
    await shows(PUMP.name, "ready");
  });

  test("a person says that they are away, and back", async () => {
    const home = card("Who is at home");
    await home.getByRole("button", { name: "I am away" }).click();
    await home.getByText(/said to be away/).waitFor();
    await home.getByRole("button", { name: "I am back" }).click();
    await home.getByText(/said to be away/).waitFor({ state: "detached" });
  });

  test("one is deleted", async () => {
    await page.getByRole("button", { name: `Delete ${PUMP.name}` }).click();
    await page.getByRole("button", { name: "Yes, delete" }).click();
    await card(PUMP.name).waitFor({ state: "detached" });
    expect((await rules.list()).map(({ name }) => name)).toEqual([LEAK.name, SHUT.name]);
  });
});
