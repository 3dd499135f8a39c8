/** A home of a thousand devices: the command lists and finds them; the console has pages, a search, and few elements. */
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { axeFinds, openWindow, PHONE, signIn, useChromium } from "./chromium.ts";
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

  const screen = (name: string) => page.getByRole("navigation").getByRole("link", { name }).click();
  const elements = () => page.evaluate("document.getElementsByTagName('*').length") as Promise<number>;
  const cards = () => page.getByRole("article");
  const card = (name: string) => page.getByRole("article", { name, exact: true });
  const focused = () => page.evaluate("document.activeElement?.textContent") as Promise<string>;

  test("Fleet shows a page of devices with few elements", async () => {
    const began = performance.now();
    await screen("Fleet");
    await card("node-0000").waitFor();
    const took = Math.round(performance.now() - began);
    await page.getByText("750 of 1,000 online").waitFor();
    await page.getByText("1–36 of 1,000 devices").first().waitFor();
    const count = await elements();
    console.log(`Fleet with ${COUNT} devices: ${count} elements, the first card after ${took} ms`);
    expect(count).toBeLessThan(ELEMENTS_MAX);
    expect(await cards().count()).toBe(36);
    expect(await axeFinds(page)).toEqual([]);
  });

  test("pages are turned with the keyboard, and the focus goes to the place in the list", async () => {
    const next = page.getByRole("button", { name: "Next", exact: true });
    await next.first().focus();
    await page.keyboard.press("Enter");
    await card("node-0036").waitFor();
    await expect.poll(focused).toBe("37–72 of 1,000 devices");
    expect(await card("node-0000").count()).toBe(0);
    await next.last().click();
    await card("node-0072").waitFor();
    await expect.poll(focused).toBe("73–108 of 1,000 devices");
    await page.getByRole("button", { name: "Previous", exact: true }).first().click();
    await card("node-0036").waitFor();
  });

  test("a search and a filter find one device of many", async () => {
    const box = page.getByRole("searchbox", { name: "Search devices" });
    await box.fill("greenhouse 77");
    await page.getByText("1 found").waitFor();
    expect(await cards().count()).toBe(1);
    await card("node-0770").waitFor();
    await page.getByLabel("Show").selectOption("offline");
    await page.getByText("No device matches.").waitFor();
    await box.fill("room 7");
    await card("node-0007").waitFor();
    expect(await card("node-0007").getByText("offline", { exact: true }).count()).toBe(1);
    await box.fill("");
    await page.getByText("of 250 devices").first().waitFor();
    await page.getByLabel("Show").selectOption("online");
    await page.getByText("of 750 devices").first().waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await page.getByLabel("Show").selectOption("all devices");
    await page.getByText("1–36 of 1,000 devices").first().waitFor();
  });

  test("an action of a device far back is tried", async () => {
    await page.getByRole("searchbox", { name: "Search devices" }).fill("node-0998");
    await page.getByText("1 found").waitFor();
    await card("node-0998").getByRole("button", { name: "19 actions" }).click();
    await card("node-0998").getByLabel("Action").selectOption("camera");
    await card("node-0998").getByRole("button", { name: "Try it" }).waitFor();
    expect(await elements()).toBeLessThan(ELEMENTS_MAX);
  });

  test("the other screens list no thousand devices", async () => {
    await screen("Chat");
    await page.getByText("and 738 more").waitFor();
    expect(await elements()).toBeLessThan(ELEMENTS_MAX);
    await screen("Metrics");
    await page.locator(".tile", { hasText: "Agents online" }).getByText("750").waitFor();
    await screen("Audit");
    const agent = page.getByLabel("Agent", { exact: true });
    await agent.fill("node-05");
    await page.locator("datalist option[value=node-0539]").waitFor({ state: "attached" });
    expect(await page.locator("datalist option").count()).toBe(40);
    expect(await elements()).toBeLessThan(ELEMENTS_MAX);
    expect(await axeFinds(page)).toEqual([]);
  });

  test("on a phone nothing is wider than the screen, and a page ends with its buttons", async () => {
    await page.setViewportSize(PHONE);
    await screen("Fleet");
    await card("node-0000").waitFor();
    const wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate(wide)).toBe(0);
    await page.getByRole("button", { name: "Next", exact: true }).last().click();
    await card("node-0036").waitFor();
    await expect.poll(focused).toBe("37–72 of 1,000 devices");
    expect(await axeFinds(page)).toEqual([]);
  });
});
