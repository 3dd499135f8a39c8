/**
 * A gateway that was deployed by the button, with the form's example secrets: a browser is enough to finish the set-up.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SECRETS } from "../../local/deploy-button.ts";
import { freePort } from "../../local/port.ts";
import { addressInBrowser, axeFinds, signIn, startChromium } from "./chromium.ts";
import { Program } from "./program.ts";

const dir = mkdtempSync(join(tmpdir(), "edgecall-tokens-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser?.close());

let worker: Program | undefined;
afterAll(() => worker?.stop());

async function deployed(secrets: Record<string, string>): Promise<string> {
  await worker?.stop();
  const port = String(await freePort());
  const env = { ...secrets, PORT: port, EDGECALL_DIR: dir };
  worker = new Program({ name: "worker", script: "local/worker.ts", env });
  await worker.ready;
  return `http://127.0.0.1:${port}`;
}

/** The contents of the form's fields. */
const EXAMPLES = Object.fromEntries(Object.entries(SECRETS).map(([name, { example }]) => [name, example]));

test("tokens are made in the browser, sent nowhere, and give access to the gateway", {
  tags: ["needs/chromium"],
}, async () => {
  const closed = await deployed(EXAMPLES);
  const headers = { authorization: `Bearer ${"x".repeat(43)}` };
  for (const path of ["/v1/status", "/bridge"])
    expect([path, (await fetch(closed + path, { headers })).status]).toEqual([path, 500]);
  const page = await browser.newPage();
  const asked: string[] = [];
  // Whole addresses, because a query could carry a secret. The browser loads the page's icon when it has time.
  page.on("request", (request) => {
    const what = `${request.method()} ${request.url()}`;
    if (what !== `GET ${addressInBrowser(closed)}/icon.svg`) asked.push(what);
  });
  await page.goto(closed);
  await page.getByRole("link", { name: "Make its tokens" }).click();
  await page.getByRole("button", { name: "Make tokens" }).waitFor();
  asked.length = 0;
  await page.getByRole("button", { name: "Make tokens" }).click();
  const value = (label: string | RegExp) => page.getByLabel(label).inputValue();
  await expect.poll(() => value("API_TOKENS")).not.toBe("");
  const secrets = { API_TOKENS: await value("API_TOKENS"), BRIDGE_TOKENS: await value("BRIDGE_TOKENS") };
  const tokens = [
    await value(/^Your own token/),
    await value(/^For OpenAI/),
    await value(/^The bridge's token/),
  ];
  expect(new Set(tokens).size).toBe(3);
  for (const token of tokens) {
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(secrets)).not.toContain(token);
  }
  expect(asked).toEqual([]);
  expect(await axeFinds(page)).toEqual([]);

  const open = await deployed(secrets);
  const [own = "", client = "", bridge = ""] = tokens;
  await signIn(page, open, own);
  const status = async (path: string, token: string) =>
    (await fetch(open + path, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await status("/v1/keys", own)).toBe(200);
  expect(await status("/v1/models", client)).toBe(200);
  expect(await status("/v1/keys", client)).toBe(403);
  expect(await status("/bridge", own)).toBe(401);
  // The token is accepted; only the WebSocket upgrade is missing.
  expect(await status("/bridge", bridge)).toBe(426);
});
