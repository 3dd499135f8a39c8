/** Conversations in the console: long ones, found and named ones, and what is shown of a turn that waits or fails. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { signIn, startChromium } from "./chromium.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env });
  await stack.gateway.online("pi");
});

describe("conversations in the console", { tags: ["needs/chromium"] }, () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  beforeAll(async () => {
    browser = await startChromium();
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    page = await context.newPage();
    page.setDefaultTimeout(15_000);
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });
  afterAll(() => browser?.close());

  async function ask(text: string) {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Ask" }).click();
    return page.locator(".turn").last();
  }
  async function begin() {
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.locator(".welcome").waitFor();
  }

  test("G17 a long conversation is loaded in pages, and what is read stays where it is", async () => {
    const say = async (text: string) => {
      const response = await fetch(`${stack.gateway.url}/v1/conversations/long/messages`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKENS.owner}`, "content-type": "application/json" },
        body: JSON.stringify({ text }),
      });
      expect(response.status).toBe(200);
      await response.body?.cancel();
    };
    for (let nth = 1; nth <= 103; nth += 1) await say(script({ text: `answer ${nth}.` }));
    await page.goto(`${stack.gateway.url}/#/chat/long`);
    const answers = page.locator(".turn .answer");
    await answers.filter({ hasText: "answer 103." }).waitFor();
    expect(await answers.count()).toBe(100);
    const turns = page.getByRole("log", { name: "Conversation" });
    await turns.evaluate((box: { scrollTop: number }) => {
      box.scrollTop = 0;
    });
    const seen = answers.filter({ hasText: "answer 4." });
    const before = await seen.boundingBox();
    await page.getByRole("button", { name: "Earlier messages" }).click();
    await answers.filter({ hasText: "answer 1." }).waitFor();
    expect(await answers.count()).toBe(103);
    expect(await answers.first().textContent()).toContain("answer 1.");
    const button = page.getByRole("button", { name: "Earlier messages" });
    await button.waitFor({ state: "hidden" });
    // The button itself is gone: what stood below it has moved up by no more than that.
    const after = await seen.boundingBox();
    expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(2);
    expect(await page.evaluate("document.activeElement?.getAttribute('aria-label')")).toBe("Conversation");
    // What happens from here on leaves the older ones there.
    await ask(script({ text: "answer 104." }));
    await answers.filter({ hasText: "answer 104." }).waitFor();
    expect(await answers.count()).toBe(104);
  });

  test("G9 a model's endpoint that wants a pause: why, with its seconds, until it goes on", async () => {
    await begin();
    const turn = await ask(
      script(
        { status: 429, headers: { "retry-after": "3" }, body: { error: { message: "slow down" } } },
        { text: "On again." },
      ),
    );
    const paused = turn.locator(".thinking");
    await paused.filter({ hasText: /slow down · asks again in [1-4] s/ }).waitFor();
    await turn.locator(".answer", { hasText: "On again." }).waitFor();
    expect(await paused.count()).toBe(0);
  });
});
