/** Owners of two homes lend and borrow in the console, by keyboard alone. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { addressInBrowser, axeFinds, openWindow, PHONE, signIn, startChromium } from "./chromium.ts";
import { action, RESULTS } from "./edge-calls.ts";
import { GatewayClient } from "./gateway-client.ts";
import { useStack } from "./stack.ts";

/** The name of the focused element. */
const FOCUSED = `(() => {
  const { activeElement: at } = document;
  return at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent.trim() ?? at.textContent.trim();
})()`;

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "pi" });
  await stack.gateway.online("pi");
});

describe("the console", { tags: ["needs/chromium"] }, () => {
  let browser: Browser;
  let lender: Page;
  let borrower: Page;
  let invitation = "";
  beforeAll(async () => {
    browser = await startChromium();
    lender = await openWindow(browser);
    borrower = await openWindow(browser);
    await signIn(lender, stack.gateway.url, TOKENS.owner);
    await signIn(borrower, stack.gateway.url, TOKENS.otherHome);
    for (const page of [lender, borrower]) {
      await page.goto(`${stack.gateway.url}/#/setup/lending`);
      await page.getByRole("heading", { name: "Lending", exact: true }).waitFor();
    }
  });
  afterAll(() => browser?.close());

  /** A question takes the focus a moment after it is shown. */
  const isFocused = (page: Page, name: string) =>
    until(async () => (await page.evaluate(FOCUSED)) === name, { what: `the focus on ${name}` });

  /** Presses Tab until the element with that name has the focus. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    const seen: string[] = [];
    for (let tabs = 0; tabs < 120; tabs += 1) {
      await page.keyboard.press("Tab");
      const at = (await page.evaluate(FOCUSED)) as string;
      if (name.test(at)) return;
      seen.push(at.slice(0, 30));
    }
    throw new Error(`Tab does not lead to ${name}, but to: ${seen.join(" | ")}`);
  }

  test("an owner lends an agent: the invitation is shown once", async () => {
    await tabTo(lender, /^Name of the other home/);
    await lender.keyboard.insertText("next door");
    await tabTo(lender, /^Agents/);
    await lender.keyboard.insertText("nobody");
    await lender.keyboard.press("Enter");
    await lender.getByRole("alert").getByText("there is no agent 'nobody'").waitFor();
    await lender.keyboard.press("ControlOrMeta+a");
    await lender.keyboard.insertText("pi");
    await lender.keyboard.press("Enter");
    const shown = lender.getByLabel("the invitation", { exact: true });
    await shown.waitFor();
    invitation = (await shown.textContent()) ?? "";
    expect(invitation).toMatch(/^ecl_/);
    await lender.getByText("the invitation was not used yet").waitFor();
    expect(await axeFinds(lender)).toEqual([]);
    await lender.reload();
    await lender.getByText("the invitation was not used yet").waitFor();
    expect(await lender.content()).not.toContain(invitation);
  });

  test("another owner sees whom the invitation is from, borrows, and a chat uses the agent", async () => {
    await tabTo(borrower, /^Invitation/);
    await borrower.keyboard.insertText(invitation);
    await borrower.getByText(`It is from home 'a' at ${addressInBrowser(stack.gateway.url)}.`).waitFor();
    await tabTo(borrower, /^Call that home/);
    await borrower.keyboard.insertText("near");
    await tabTo(borrower, /^Borrow$/);
    await borrower.keyboard.press("Enter");
    await borrower.getByText("Borrowed: near/pi.").waitFor();
    await borrower.getByText("reads only").first().waitFor();
    expect(await axeFinds(borrower)).toEqual([]);
    await borrower.setViewportSize(PHONE);
    const { scroll, client } = (await borrower.evaluate(
      "({ scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth })",
    )) as { scroll: number; client: number };
    expect(scroll).toBeLessThanOrEqual(client);
    const other = new GatewayClient(stack.gateway.url, TOKENS.otherHome);
    expect((await other.ask(script(action("near/pi", "disk"), RESULTS))).answer).toMatch(/\d+% used/);
  });

  test("the lender takes it back, after a question; the focus stays where it was", async () => {
    await lender.reload();
    await lender.getByText(/lent, made by anna/).waitFor();
    await tabTo(lender, /^Take back what next door may use/);
    await lender.keyboard.press("Enter");
    await lender.getByText("Calls that are running are stopped.").waitFor();
    await isFocused(lender, "Cancel");
    await lender.keyboard.press("Shift+Tab");
    await lender.keyboard.press("Enter");
    await lender.getByText(/taken back, made by anna/).waitFor();
  });

  test("the borrower gives it back", async () => {
    await borrower.reload();
    await tabTo(borrower, /^Give back near/);
    await borrower.keyboard.press("Enter");
    await isFocused(borrower, "Cancel");
    await borrower.keyboard.press("Shift+Tab");
    await borrower.keyboard.press("Enter");
    await borrower.getByText("Nothing is borrowed.").waitFor();
  });
});
