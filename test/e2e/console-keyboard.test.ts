/** The console without a mouse, with a screen reader, on a phone, and before sign-in. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { askIn, axeFinds, openWindow, PHONE, signIn, startChromium } from "./chromium.ts";
import { useStack } from "./stack.ts";

/** The name of the focused element. */
const FOCUSED = `(() => {
  const { activeElement: at } = document;
  return at.getAttribute("aria-label") ?? at.textContent.trim();
})()`;

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env });
  await stack.gateway.online("pi");
});

const call = (action: string, params: object = {}) => ({
  calls: [{ arguments: { agent_id: "pi", action, params } }],
});

describe("the console", { tags: ["needs/chromium"] }, () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await startChromium();
    page = await openWindow(browser);
  });
  afterAll(() => browser?.close());

  const press = (key: string) => page.keyboard.press(key);
  const focused = () => page.evaluate(FOCUSED) as Promise<string>;

  /** Presses Tab until the element with that name has the focus. */
  async function tabTo(name: string | RegExp): Promise<void> {
    const seen: string[] = [];
    for (let tabs = 0; tabs < 40; tabs += 1) {
      await press("Tab");
      const at = await focused();
      if (typeof name === "string" ? at === name : name.test(at)) return;
      seen.push(at.slice(0, 40));
    }
    throw new Error(`Tab does not lead to ${name}, but to: ${seen.join(" | ")}`);
  }

  async function say(text: string): Promise<void> {
    await page.keyboard.insertText(text);
    await press("Enter");
  }

  const clean = async (what: string) => {
    expect(await axeFinds(page), what).toEqual([]);
  };

  test("axe finds nothing on the sign-in page, in both themes, also while a problem is shown", async () => {
    await page.goto(`${stack.gateway.url}/#/chat`);
    await page.getByLabel("Token").waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await clean(`sign-in, ${colorScheme}`);
    }
    await page.getByLabel("Token").fill("not-a-token-of-this-home");
    await press("Enter");
    await page.getByRole("alert").getByText("no such token").waitFor();
    await clean("sign-in, refused");
  });

  test("too many attempts: the wait is shown, and the button becomes active by itself", async () => {
    await page.route("**/v1/console/session", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
            status: 429,
            headers: { "retry-after": "5", "content-type": "application/json" },
            body: `{"error":{"code":"rate_limited","message":"too many"}}`,
          })
        : route.continue(),
    );
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("Too many attempts from this address.").waitFor();
    const waiting = page.getByRole("button", { name: /^Try again in [1-5] s$/ });
    expect(await waiting.isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await page.unroute("**/v1/console/session");
  });

  test("by keyboard alone: sign in, ask, approve, stop; a screen reader announces each step", async () => {
    await page.goto(`${stack.gateway.url}/#/chat`);
    // Another hash alone loads nothing.
    await page.reload();
    const announced: string[] = [];
    await page.exposeFunction("announced", (text: string) => announced.push(text));
    await page.getByLabel("Token").focus();
    await page.keyboard.type(TOKENS.owner);
    await press("Enter");
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.locator("main p.unseen[role=status]").waitFor({ state: "attached" });
    await page.evaluate(`new MutationObserver(() => {
      const text = document.querySelector("main p.unseen[role=status]")?.textContent;
      if (text) window.announced(text);
    }).observe(document.querySelector("main"), { childList: true, characterData: true, subtree: true })`);

    await tabTo("Message");
    await say(script(call("append", { text: "x" }), { text: "It is written." }));
    const turn = page.locator(".turn").last();
    await turn.getByRole("button", { name: "Run", exact: true }).waitFor();
    await page.keyboard.press("Shift+Tab");
    for (let tabs = 0; (await focused()) !== "Run"; tabs += 1) {
      if (tabs > 20) throw new Error("Shift+Tab does not lead from the line to Run");
      await press("Shift+Tab");
    }
    await press("Enter");
    await turn.locator(".answer", { hasText: "It is written." }).waitFor();
    // The button disappeared, and the focus stays in its turn.
    await expect.poll(() => page.evaluate("document.activeElement.closest('.turn') !== null")).toBe(true);

    await tabTo("Message");
    await say(script(call("slow", { ms: 600_000 }), { text: "never" }));
    await page.locator(".turn").last().getByText("accepted, running").waitFor();
    await tabTo("Stop");
    await press("Enter");
    await page.locator(".turn").last().locator(".answer.cancelled").waitFor();
    await expect.poll(focused).toBe("Message");

    const announcements = () => announced.filter((text, at) => text !== announced[at - 1]);
    await expect
      .poll(announcements)
      .toEqual(
        expect.arrayContaining([
          "Run append on pi with 1 value?",
          "Answer: It is written.",
          "slow on pi is running.",
          expect.stringMatching(/^Answer: .*cancelled/i),
        ]),
      );
    // It announces sentences, not letters.
    expect(announcements().length).toBeLessThan(16);
  });

  test("an earlier conversation can be found on another machine too, until it is deleted", async () => {
    const first = await page.locator(".turn .answer").first().textContent();
    const phone = await openWindow(browser, PHONE);
    await signIn(phone, stack.gateway.url, TOKENS.owner);
    expect(await phone.locator(".turn .answer").first().textContent()).toBe(first);

    await phone.getByRole("button", { name: "New", exact: true }).click();
    await phone.getByText("Ask about your devices, or tell").waitFor();
    await askIn(phone, script({ text: "From the phone." }));
    await phone.locator(".answer", { hasText: "From the phone." }).waitFor();
    await phone.getByRole("button", { name: "Conversations" }).click();
    const list = phone.getByRole("complementary", { name: "Conversations" });
    expect(await axeFinds(phone)).toEqual([]);
    await list.getByRole("listitem").last().getByRole("button").click();
    await phone.locator(".answer", { hasText: "It is written." }).waitFor();
    await list.waitFor({ state: "hidden" });

    // The address alone opens it, and Back returns to the previous screen.
    await phone.reload();
    await phone.locator(".answer", { hasText: "It is written." }).waitFor();
    await phone.goBack();
    await phone.locator(".answer", { hasText: "From the phone." }).waitFor();
    await phone.getByRole("button", { name: "Conversations" }).click();
    await list.getByRole("button", { name: "Delete this conversation" }).click();
    await list.getByRole("button", { name: "Yes, delete this conversation" }).click();
    await phone.getByText("Ask about your devices, or tell").waitFor();
    await page.reload();
    await page.locator(".answer", { hasText: "It is written." }).waitFor();
    await expect.poll(() => page.getByRole("complementary").getByRole("listitem").count()).toBe(1);
    await phone.close();
  });
});
