/** An administrator connects Home Assistant in Setup: the browser signs in there and comes back, its devices are there, and gone again. */
import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlayedAssistant } from "../../bridge/testkit/assistant.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { addressInBrowser, axeFinds, openScreen, openWindow, signIn, useChromium } from "./chromium.ts";
import { useStack } from "./stack.ts";

const stack = useStack(
  { bridge: { STATE_DIRECTORY: mkdtempSync(join(tmpdir(), "edgecall-bridge-")) } },
  async () => {},
);

describe("Setup's card Home Assistant", { tags: ["needs/chromium"] }, () => {
  let assistant: PlayedAssistant;
  let page: Page;
  beforeAll(async () => {
    assistant = await PlayedAssistant.start(["hall_lamp", "desk_lamp"]);
  });
  afterAll(() => assistant.stop());
  useChromium(async (browser) => {
    page = await openWindow(browser);
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });
  const card = () => page.locator(".panel", { has: page.getByRole("heading", { name: "Home Assistant" }) });

  test("a wrong address is named, and a code that this browser did not ask for is not used", async () => {
    await openScreen(page, "Home Assistant");
    await card().getByRole("textbox", { name: "Address" }).fill("ftp://homeassistant.local");
    await card().getByRole("button", { name: "Sign in there" }).click();
    await card().getByText("url: should be Home Assistant's address", { exact: false }).waitFor();
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.url()));
    const stranger = new URLSearchParams({ state: randomUUID(), code: "a-code-of-another" });
    await page.goto(`${addressInBrowser(stack.gateway.url)}/?${stranger}`);
    await card().getByRole("button", { name: "Sign in there" }).waitFor();
    expect(page.url()).not.toContain("code=");
    expect(sent.filter((url) => url.includes("/v1/home-assistant/code"))).toEqual([]);
  });

  test("its address, a sign-in there, and the card says who and how many", async () => {
    await card().getByRole("textbox", { name: "Address" }).fill(assistant.page);
    expect(await axeFinds(page)).toEqual([]);
    await card().getByRole("button", { name: "Sign in there" }).click();
    await card().getByText("2 devices, of what is exposed to Assist").waitFor();
    await card().getByText("bridge", { exact: true }).waitFor();
    // The code is not left in the address.
    expect(page.url()).not.toMatch(/code=|state=/);
    expect(await axeFinds(page)).toEqual([]);
    await stack.gateway.online("hall-lamp");
  });

  test("revoked there, the card says so, and signs in again", async () => {
    assistant.grants.clear();
    assistant.drop();
    await until(async () => {
      await page.reload();
      const refused = card().getByText("Home Assistant refuses the token").first();
      return await refused.waitFor({ timeout: 1_000 }).then(
        () => true,
        () => false,
      );
    });
    expect(await axeFinds(page)).toEqual([]);
    expect(await card().getByRole("textbox", { name: "Address" }).inputValue()).toBe(assistant.page);
    await card().getByRole("button", { name: "Sign in there" }).click();
    await card().getByText("2 devices, of what is exposed to Assist").waitFor();
  });

  test("given up, it is gone with its devices", async () => {
    await card().getByRole("button", { name: "Disconnect Home Assistant" }).click();
    await card().getByRole("button", { name: "Yes, disconnect" }).click();
    await card().getByRole("button", { name: "Sign in there" }).waitFor();
    expect(assistant.grants.size).toBe(0);
  });
});
