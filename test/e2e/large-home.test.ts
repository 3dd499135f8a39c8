/** A home of a thousand devices: the command lists and finds them; the console has pages, a search, and few elements. */
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { axeFinds, openScreen, openWindow, PHONE, signIn, useChromium } from "./chromium.ts";
import { edgecall } from "./command.ts";
import { largeHome, playLargeBridge } from "./large-bridge.ts";
import { useStack } from "./stack.ts";

const COUNT = 1_000;
const ELEMENTS_MAX = 1_500;

let bridge: { stop(): void } | undefined;
const stack = useStack({ vars: { ALLOW_UNSIGNED_AGENTS: "*" } }, async (stack) => {
  await stack.bridge.stop();
  bridge = await playLargeBridge(stack.gateway.url, largeHome(COUNT));
  const known = async () =>
    ((await (await stack.gateway.fetch("/v1/agents?limit=1")).json()) as { total: number }).total;
  await until(async () => (await known()) === COUNT, { within: 60_000, what: "all devices" });
});
afterAll(() => bridge?.stop());

test("edgecall agents lists a part, finds some, and gives a program all of them", async () => {
  const env = { EDGECALL_URL: stack.gateway.url, EDGECALL_TOKEN: TOKENS.owner };
  const run = (...args: string[]) => edgecall(args, env);
  const some = await run("agents");
  expect(some.out.trim().split("\n")).toHaveLength(201);
  expect(some.err).toContain("and 800 more: --all lists them");
  expect((await run("agents", "--all")).out.trim().split("\n")).toHaveLength(COUNT + 1);
  const found = await run("agents", "--search", "greenhouse 77");
  expect(found.out).toMatch(/\nnode-0770 +idle /);
  expect(found.err).toBe("");
  expect((await run("agents", "--online", "--limit", "3", "--json")).err).toContain("and 747 more");
  expect(JSON.parse((await run("agents", "--json")).out)).toHaveLength(COUNT);
  expect((await run("agents", "--limit", "none")).code).toBe(2);
});

describe("the console of a large home", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  useChromium(async (browser) => {
    page = await openWindow(browser);
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });

  const screen = (name: string) => openScreen(page, name);
  const elements = () => page.evaluate("document.getElementsByTagName('*').length") as Promise<number>;
  const row = (id: string) => page.locator(`a.hit[href="#/devices/${id}"]`);
  const machines = () => page.locator("summary", { hasText: "Machines" });
  const focused = () => page.evaluate("document.activeElement?.textContent") as Promise<string>;

  test("Home and Devices of a thousand have few elements", async () => {
    await screen("Home");
    await page.getByText("Needs a look").waitFor({ state: "attached" });
    const home = await elements();
    expect(home).toBeLessThan(ELEMENTS_MAX);
    const began = performance.now();
    await screen("Devices");
    await page.getByRole("link", { name: "Machines 1,000" }).waitFor();
    await machines().waitFor();
    if (!(await row("node-0000").isVisible())) await machines().click();
    await row("node-0000").waitFor();
    const took = Math.round(performance.now() - began);
    await page.getByText("1–36 of 1,000 devices").first().waitFor();
    const count = await elements();
    console.log(`${COUNT} devices: Home ${home} elements, Devices ${count}, its first row after ${took} ms`);
    expect(count).toBeLessThan(ELEMENTS_MAX);
    expect(await page.locator("a.hit").count()).toBe(36);
    expect(await axeFinds(page)).toEqual([]);
  });

  test("pages are turned with the keyboard, and the focus goes to the place in the list", async () => {
    const next = page.getByRole("button", { name: "Next", exact: true });
    await next.first().focus();
    await page.keyboard.press("Enter");
    await row("node-0036").waitFor();
    await expect.poll(focused).toBe("37–72 of 1,000 devices");
    expect(await row("node-0000").count()).toBe(0);
    await next.last().click();
    await row("node-0072").waitFor();
    await expect.poll(focused).toBe("73–108 of 1,000 devices");
    await page.getByRole("button", { name: "Previous", exact: true }).first().click();
    await row("node-0036").waitFor();
  });

  test("a search and a filter find one device of many", async () => {
    const box = page.getByRole("searchbox", { name: "Find a device or area" });
    await box.fill("greenhouse 77");
    await row("node-0770").waitFor();
    await expect.poll(() => page.locator("a.hit").count()).toBe(1);
    await page.getByRole("link", { name: /^Away/ }).click();
    await box.fill("room 7");
    await row("node-0007").waitFor();
    await row("node-0007").getByText("Offline").waitFor();
    await box.fill("");
    await page.getByText("of 250 devices").first().waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await page.getByRole("link", { name: /^All/ }).click();
  });

  test("an action of a device far back is tried", async () => {
    await page.getByRole("searchbox", { name: "Find a device or area" }).fill("node-0998");
    await row("node-0998").click();
    const shown = page.getByRole("article", { name: "node-0998", exact: true });
    await shown.getByRole("button", { name: "19 actions" }).click();
    await shown.getByLabel("Action").selectOption("camera");
    await shown.getByRole("button", { name: "Try it" }).waitFor();
    expect(await elements()).toBeLessThan(ELEMENTS_MAX);
  });

  test("the other screens list no thousand devices", async () => {
    await screen("Chats");
    await page.getByText("and 738 more").waitFor();
    expect(await elements()).toBeLessThan(ELEMENTS_MAX);
    await screen("Use and cost");
    await page.locator(".sum", { hasText: "Agents online" }).getByText("750").waitFor();
    await screen("Record");
    const agent = page.getByLabel("Agent", { exact: true });
    await agent.fill("node-05");
    await page.locator("datalist option[value=node-0539]").waitFor({ state: "attached" });
    expect(await page.locator("datalist option").count()).toBe(40);
    expect(await elements()).toBeLessThan(ELEMENTS_MAX);
    expect(await axeFinds(page)).toEqual([]);
  });

  test("on a phone nothing is wider than the screen, and a page ends with its buttons", async () => {
    await page.setViewportSize(PHONE);
    await screen("Devices");
    if (!(await row("node-0000").isVisible())) await machines().click();
    await row("node-0000").waitFor();
    const wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate(wide)).toBe(0);
    await page.getByRole("button", { name: "Next", exact: true }).last().click();
    await row("node-0036").waitFor();
    await expect.poll(focused).toBe("37–72 of 1,000 devices");
    expect(await axeFinds(page)).toEqual([]);
  });
});
