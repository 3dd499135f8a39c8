/** The system's Chromium for tests of the console: as a person has it, but without a window. */
import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

const PATH = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Why there is none, in words; undefined = it is there. */
export const noChromium = existsSync(PATH) ? undefined : `Chromium: not at ${PATH} (CHROMIUM names another)`;

/** Root has no sandbox for it; it sees our own pages only. */
export function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: PATH, args: ["--no-sandbox", "--disable-gpu"] });
}

export async function signIn(page: Page, url: string, token: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}
