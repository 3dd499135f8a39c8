/** N3: what stands around a screen fits every window while something waits for the person. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { openScreen, openWindow, signIn, startChromium } from "./chromium.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env });
  await stack.gateway.online("pi");
});

const write = (n: number) => ({
  calls: [{ arguments: { agent_id: "pi", action: "write", params: { path: `n${n}.txt`, content: "x" } } }],
});

/** In the page: the boxes of the frame's parts, and how wide the page is. */
const LOOK = `(() => {
  const parts = [...document.querySelectorAll(".brand, .nav a:not(.skip), .who button, .top-tools :is(a, button), h1")];
  const boxes = parts.map((part) => {
    const { left, right, top, bottom, width } = part.getBoundingClientRect();
    return { what: (part.getAttribute("aria-label") ?? part.textContent).trim(), left, right, top, bottom, width };
  }).filter(({ width }) => width > 0);
  return { wide: document.documentElement.scrollWidth, boxes };
})()`;
type Box = { what: string; left: number; right: number; top: number; bottom: number };

describe("N3: the frame with something waiting", { tags: ["needs/chromium"] }, () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await startChromium();
    for (let n = 0; n < 12; n += 1) void stack.gateway.begin(script(write(n), { text: "ok" }), `waits-${n}`);
    await until(
      async () =>
        ((await (await stack.gateway.fetch("/v1/questions")).json()) as { total: number }).total >= 12,
      { within: 60_000, what: "twelve approvals" },
    );
    page = await openWindow(browser);
    await signIn(page, stack.gateway.url, TOKENS.owner);
    await page.locator(".waits-link").waitFor();
    await openScreen(page, "Record");
  }, 120_000);
  afterAll(() => browser?.close());

  test.each([
    360, 390, 480, 699, 700, 720, 721, 737, 768, 820, 900, 992, 1024, 1099, 1100, 1180, 1280, 1281, 1366,
    1440, 1600,
  ])("N3: %i px wide: no scrolling to the side, and nothing lies over anything", async (width) => {
    await page.setViewportSize({ width, height: 800 });
    const { wide, boxes } = (await page.evaluate(LOOK)) as { wide: number; boxes: Box[] };
    expect(wide).toBeLessThanOrEqual(width);
    expect(boxes.filter(({ left, right }) => left < -0.5 || right > width + 0.5)).toEqual([]);
    const over = boxes.flatMap((a, at) =>
      boxes
        .slice(at + 1)
        .filter(
          (b) =>
            Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1,
        )
        .map((b) => `${a.what} over ${b.what}`),
    );
    expect(over.filter((pair) => !pair.startsWith("edgecall over"))).toEqual([]);
    expect(boxes.some(({ what }) => what.includes("Waiting for you"))).toBe(true);
  });
});
