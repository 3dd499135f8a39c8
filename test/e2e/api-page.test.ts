// @module-tag needs/chromium
/** The page that shows the API, as a person reads it: every operation of the document, by search and by link. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { addressInBrowser, axeFinds, openWindow, PHONE, useChromium } from "./chromium.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const stack = useStack();

let browser: Browser;
useChromium(async (started) => {
  browser = started;
});

const pages: Page[] = [];
afterEach(() => Promise.all(pages.splice(0).map((page) => page.close())));

/** @returns the page, and what went wrong on it or left this origin so far */
async function open(path: string, viewport?: { width: number; height: number }) {
  const page = await openWindow(browser, viewport);
  pages.push(page);
  const faults: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${addressInBrowser(stack.gateway.url)}/`)) faults.push(request.url());
  });
  await page.goto(addressInBrowser(stack.gateway.url) + path);
  await page.getByText(/ operations, version /).waitFor();
  return { page, faults };
}

const DOCUMENT = JSON.parse(
  readFileSync(join(ROOT, "worker/features/console/public/openapi.json"), "utf8"),
) as { paths: Record<string, Record<string, { operationId: string; summary: string }>> };
const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, { summary }]) => `${method.toUpperCase()} ${path} ${summary.replaceAll("`", "")}`,
  ),
);

test("it shows every operation of the document, without a token, and asks nobody else", async () => {
  const { page, faults } = await open("/api");
  expect(await page.locator("#operations > details > summary").allTextContents()).toEqual(OPERATIONS);
  await expect.poll(() => page.getByRole("status").textContent()).toContain(`${OPERATIONS.length} of`);
  expect(faults).toEqual([]);
});

test("an operation says what it takes and answers; a search finds it, and a link opens it", async () => {
  const { page, faults } = await open("/api");
  await page.getByLabel("Find").fill("Answers a question or an approval");
  const found = page.locator("#operations > details:not([hidden])");
  await expect.poll(() => found.count()).toBe(1);
  await found.locator("> summary").click();
  const text = (await found.textContent()) ?? "";
  for (const part of [
    "POST /v1/questions/{id}",
    "Answers a question or an approval that the caller may see",
    "An approval needs the scope approve.",
    "id string, path, required",
    "Body application/json",
    "answer: string",
    "Answer 200 application/json",
    "OpenQuestion",
  ])
    expect(text).toContain(part);
  await page.getByLabel("Find").fill("no such operation");
  await expect.poll(() => page.getByRole("status").textContent()).toMatch(/^0 of /);

  const linked = await open("/api#postConversationMessages");
  const operation = linked.page.locator("#postConversationMessages");
  expect(await operation.getAttribute("open")).not.toBeNull();
  // Each event of a stream has a type of its own, and an answer of two forms has both.
  await operation.getByText("TurnEventDelta", { exact: true }).click();
  const shown = await operation.textContent();
  for (const part of [
    "TurnEventAccepted | TurnEventCall | TurnEventDelta",
    'event: "delta"',
    "TurnResult | {",
  ])
    expect(shown).toContain(part);
  expect([...faults, ...linked.faults]).toEqual([]);
});

test("a document that cannot be had is said", async () => {
  const page = await openWindow(browser);
  pages.push(page);
  await page.route("**/openapi.json", (route) => route.fulfill({ status: 503, body: "" }));
  await page.goto(`${stack.gateway.url}/api`);
  await page.getByText("The document cannot be read: the gateway answered with 503").waitFor();
});

test("axe finds nothing with every operation open, in both themes; a phone needs no sideways scrolling", async () => {
  const { page, faults } = await open("/api", PHONE);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axeFinds(page), colorScheme).toEqual([]);
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    expect(await axeFinds(page), `${colorScheme}, all open`).toEqual([]);
  }
  const [needed, given] = (await page.evaluate(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  )) as [number, number];
  expect(needed).toBeLessThanOrEqual(given);
  expect(faults).toEqual([]);
}, 120_000);
