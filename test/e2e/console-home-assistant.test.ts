/** An administrator connects Home Assistant in Setup: the browser signs in there and comes back, its devices are there, and go again. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlayedAssistant } from "../../bridge/testkit/assistant.ts";
import { TOKENS } from "../tokens.ts";
import { axeFinds, openScreen, openWindow, signIn, useChromium } from "./chromium.ts";
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

  test("its address, a sign-in there, and the card says who and how many", async () => {
    await openScreen(page, "Home Assistant");
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

  test("given up, it is gone with its devices", async () => {
    await card().getByRole("button", { name: "Disconnect Home Assistant" }).click();
    await card().getByRole("button", { name: "Yes, disconnect" }).click();
    await card().getByRole("button", { name: "Sign in there" }).waitFor();
  });
});
