/** Devices shows a device's changed description, and an administrator accepts it. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlayedAgent } from "../../bridge/testkit/agent.ts";
import { TOKENS } from "../tokens.ts";
import { openDevice, signIn, startChromium } from "./chromium.ts";
import { useStack } from "./stack.ts";

const stack = useStack({ vars: { ALLOW_UNSIGNED_AGENTS: "*" } });

describe("Devices", { tags: ["needs/chromium"] }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser?.close());

  test("S5 the description of a device that was not admitted is shown, and a button accepts it", async () => {
    const agent = await PlayedAgent.foreign("evo", stack.mqttUrl);
    await stack.gateway.online("evo");
    const page = await browser.newPage();
    page.setDefaultTimeout(30_000);
    await signIn(page, stack.gateway.url, TOKENS.owner);
    const card = await openDevice(page, "evo");
    await card.getByText("calls to other devices ask for approval until this is accepted").waitFor();
    await card.getByRole("button", { name: "Accept text" }).click();
    await card.getByText("ask for approval until this is accepted").waitFor({ state: "detached" });
    expect(await stack.gateway.agent("evo")).not.toHaveProperty("new_text");
    await agent.stop();
  });
});
