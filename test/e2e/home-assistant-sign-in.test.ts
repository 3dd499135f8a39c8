// @module-tag needs/chromium
// @module-tag needs/home-assistant
/**
 * From a Home Assistant that a home does not know to the first answer about one of its lights, as a person does it in a browser: nothing is
 * pasted but its address, and its own page asks for name and password.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { askIn, openScreen, openWindow, signIn, useChromium } from "./chromium.ts";
import { HomeAssistant, PASSWORD } from "./home-assistant.ts";
import { useStack } from "./stack.ts";

const START_WITHIN_MS = 240_000;
/** Without a model: a plain sentence is answered from what the light reports. */
const stack = useStack(
  {
    vars: { LLM_BASE_URL: "", LLM_MODEL: "" },
    bridge: { STATE_DIRECTORY: mkdtempSync(join(tmpdir(), "edgecall-bridge-")) },
  },
  async () => {},
);

describe("a person connects Home Assistant", () => {
  let home: HomeAssistant;
  /** A long-lived token of the user as whom the bridge is signed in. */
  let token: string;
  let page: Page;
  let presses = 0;

  beforeAll(async () => {
    home = await HomeAssistant.start(["frontend"]);
    await home.addLab(0);
    token = await home.addUser("bridge");
  }, START_WITHIN_MS);
  afterAll(() => home?.stop());
  useChromium(async (browser) => {
    page = await openWindow(browser);
    await signIn(page, stack.gateway.url, TOKENS.owner, "#/");
  });

  const card = () => page.locator(".panel", { has: page.getByRole("heading", { name: "Home Assistant" }) });
  const press = async (button: Locator) => {
    presses += 1;
    await button.click();
  };
  const signInThere = async () => {
    await press(card().getByRole("button", { name: "Sign in there" }));
    await page.waitForURL(`${home.url}/auth/authorize*`);
    await page.locator('input[name="username"]').fill("bridge");
    await page.locator('input[name="password"]').fill(PASSWORD);
    await press(page.getByRole("button", { name: "Log in" }));
    await card().getByText("of what is exposed to Assist").waitFor();
  };

  test("with an address, a name and a password it has the lights, and tells of one", async () => {
    const began = performance.now();
    presses += 2;
    await openScreen(page, "Home Assistant");
    await card().getByRole("textbox", { name: "Address" }).fill(home.url);
    await signInThere();
    await card().getByText("bridge", { exact: true }).waitFor();
    expect(page.url()).not.toMatch(/code=|state=/);
    await stack.gateway.online("light-works");
    presses += 2;
    await openScreen(page, "Chats");
    const turn = await askIn(page, "Is the light works on?");
    await turn.locator(".answer", { hasText: /off/ }).waitFor();
    console.info(
      `first answer after ${((performance.now() - began) / 60_000).toFixed(2)} min and ${presses} presses`,
    );
    expect(presses).toBeLessThanOrEqual(6);
  }, 120_000);

  test("revoked in Home Assistant, the card says so, and another sign-in mends it", async () => {
    const gateway = new URL(page.url()).origin;
    await home.revoke(token, `${gateway}/`);
    await openScreen(page, "Home Assistant");
    await until(
      async () => {
        await page.reload();
        const refused = card().getByText("Home Assistant refuses the token").first();
        return await refused.waitFor({ timeout: 1_000 }).then(
          () => true,
          () => false,
        );
      },
      { within: 30_000, every: 500, what: "the card says that it was revoked" },
    );
    await signInThere();
    await stack.gateway.online("light-works");
  }, 120_000);
});
