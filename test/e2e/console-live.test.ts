/** Several pages on one conversation, and hidden pages. */
import type { Page, Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { askIn, holdAnswer, openWindow, PHONE, signIn, useChromium } from "./chromium.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env });
  await stack.gateway.online("pi");
});

const call = (action: string, params: object = {}) => ({
  calls: [{ arguments: { agent_id: "pi", action, params } }],
});

/** A picture of 2 by 2 pixels. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==",
  "base64",
);

describe("the console, live", { tags: ["needs/chromium"] }, () => {
  let desk: Page;
  let phone: Page;
  useChromium(async (browser) => {
    desk = await openWindow(browser);
    phone = await openWindow(browser, PHONE);
    for (const page of [desk, phone]) await signIn(page, stack.gateway.url, TOKENS.owner);
  });

  const place = (page: Page) => page.evaluate<string>("location.hash");
  const answersOn = (page: Page) => page.locator(".turn .answer").allTextContents();

  test("C4 what is asked on one page appears on the other, from the question to the answer", async () => {
    await askIn(desk, script({ text: "The first answer." }));
    await desk.locator(".answer", { hasText: "The first answer." }).waitFor();
    await phone.evaluate(
      (hash) => {
        (globalThis as unknown as { location: { hash: string } }).location.hash = hash;
      },
      await place(desk),
    );
    await phone.locator(".answer", { hasText: "The first answer." }).waitFor();
    const asked = await askIn(
      phone,
      script(call("append", { text: "x" }), { text: "Both have it: $results" }),
    );
    await asked.getByRole("button", { name: "Run", exact: true }).waitFor();
    // Approved on the desktop page, where the question was not asked.
    const other = desk.locator(".turn").last();
    await other.getByRole("button", { name: "Run", exact: true }).click();
    for (const page of [desk, phone])
      await page.locator(".answer", { hasText: "Both have it: appended" }).waitFor();
    expect(await answersOn(phone)).toEqual(await answersOn(desk));
    await desk.reload();
    await desk.locator(".answer", { hasText: "Both have it" }).waitFor();
    expect(await answersOn(phone)).toEqual(await answersOn(desk));
    expect(await phone.locator(".turn").count()).toBe(2);
  });

  test("C4 a hidden page closes its streams, and is up to date when it is shown again", async () => {
    const live = () =>
      phone.evaluate<number>(
        "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/events')).length",
      );
    const hide = (hidden: boolean) =>
      phone.evaluate(
        `Object.defineProperty(document, "hidden", { value: ${hidden}, configurable: true });` +
          `document.dispatchEvent(new Event("visibilitychange"))`,
      );
    // The browser lists a stream only after its end, when it knows its duration.
    const before = await live();
    await hide(true);
    await expect.poll(live).toBe(before + 2);
    await askIn(desk, script({ text: "Said while nobody looked." }));
    await desk.locator(".answer", { hasText: "Said while nobody looked." }).waitFor();
    expect(await phone.locator(".answer", { hasText: "Said while nobody looked." }).count()).toBe(0);
    await hide(false);
    await phone.locator(".answer", { hasText: "Said while nobody looked." }).waitFor();
    expect(await answersOn(phone)).toEqual(await answersOn(desk));
  });

  test("what is asked and answered while a page loads its turns is shown there too", async () => {
    const list = await holdAnswer(phone, /\/v1\/conversations\/[^/]+$/);
    await phone.reload();
    await list.read;
    await askIn(desk, script({ text: "Told meanwhile." }));
    await desk.locator(".answer", { hasText: "Told meanwhile." }).waitFor();
    list.pass();
    await phone.locator(".answer", { hasText: "Told meanwhile." }).waitFor();
    expect(await answersOn(phone)).toEqual(await answersOn(desk));
  });

  test("a question that the gateway has is not told as failed, though no answer to its request arrives", async () => {
    let tries = 0;
    const lose = async (route: Route) => {
      // It is an open stream, whose end is not waited for.
      void route.fetch().catch(() => {});
      await desk.locator(".asked", { hasText: "Here it is." }).waitFor();
      await route.abort();
      tries += 1;
    };
    await phone.route(/\/messages$/, lose);
    await askIn(phone, script({ text: "Here it is.", pause: "lost" }));
    await until(() => tries === 3, { what: "the page gives its request up" });
    await phone.unroute(/\/messages$/, lose);
    stack.model.release("lost");
    const turn = phone.locator(".turn", { hasText: "Here it is." });
    await turn.locator(".answer").waitFor();
    expect(await turn.getByRole("alert").count()).toBe(0);
  });

  test("C5 after a reload during the answer, the text is shown from its beginning", async () => {
    const text = "It begins here, and it goes on for a while";
    const turn = await askIn(desk, script({ text, pause: "half" }));
    const half = await turn.locator(".prose").last().textContent();
    expect(text.startsWith(half?.slice(0, 10) ?? "?")).toBe(true);
    await desk.reload();
    const again = desk.locator(".turn").last().locator(".prose");
    await expect.poll(() => again.textContent()).toMatch(/^It begins/);
    stack.model.release("half");
    await desk.locator(".answer", { hasText: text }).waitFor();
  });

  test("C9 a sent picture stays in the transcript, on other pages too", async () => {
    await desk
      .getByLabel("Attach pictures")
      .setInputFiles({ name: "x.png", mimeType: "image/png", buffer: PNG });
    await desk.getByRole("button", { name: /^attached, number 1/ }).waitFor();
    await askIn(desk, script({ text: "Seen." }));
    await desk.locator(".answer", { hasText: "Seen." }).waitFor();
    await desk.reload();
    for (const page of [desk, phone]) {
      const picture = page.getByRole("img", { name: "sent, number 1" });
      await picture.waitFor();
      await expect
        .poll(() =>
          picture.evaluate((image: { naturalWidth?: number; tagName: string }) => image.naturalWidth),
        )
        .toBe(2);
    }
  });
});
