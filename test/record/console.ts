/** The console as a film: Chromium's own screencast of what a person does, made into an MP4 by ffmpeg. Each step waits for what the page shows. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { openWindow, signIn, startChromium } from "../e2e/chromium.ts";
import { until } from "../wait.ts";
import type { Demo } from "./tour.ts";

/** At this width the page has its own layout for a desk. */
const SIZE = { width: 1280, height: 800 };
/** Between two keys, as a person types. */
const KEY_MS = 55;
/** Of a still page, which sends no frames. */
const READ_S = 2.2;

export function hasFfmpeg(): boolean {
  return spawnSync("ffmpeg", ["-version"], { stdio: "ignore" }).status === 0;
}

/** Walks through the console. @param seen is told the text of the page after each step */
export async function walkConsole(
  page: Page,
  seen: (step: string, text: string) => Promise<void> | void,
): Promise<void> {
  const main = page.getByRole("main");
  const told = async (step: string) => await seen(step, (await main.textContent()) ?? "");
  await page.locator(".area-card .tile").first().waitFor();
  await told("home");
  await page.getByRole("link", { name: "Chats", exact: true }).click();
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.locator(".welcome").waitFor();
  await page.getByLabel("Message").pressSequentially("Turn on the reading lamp", { delay: KEY_MS });
  await page.getByRole("button", { name: "Ask" }).click();
  await page.locator(".turn").last().getByText("Reading lamp: on", { exact: false }).first().waitFor();
  await told("lamp");
  await page.getByLabel("Message").pressSequentially("Unlock the front door", { delay: KEY_MS });
  await page.getByRole("button", { name: "Ask" }).click();
  const question = page.locator(".question.approval").last();
  await question.getByText("Unlock Front door?").waitFor();
  await told("question");
  await question.getByRole("button", { name: "Unlock", exact: true }).click();
  await page.locator(".turn").last().getByText("Front door: unlocked", { exact: false }).first().waitFor();
  await told("unlocked");
}

/** @returns a line that says what was made */
export async function recordConsole(demo: Demo, file: string): Promise<string> {
  const browser = await startChromium();
  const folder = mkdtempSync(join(tmpdir(), "edgecall-film-"));
  try {
    const page = await openWindow(browser, SIZE);
    await signIn(page, demo.url, demo.token, "#/home");
    const frames: Array<{ file: string; at: number }> = [];
    const cast = await page.context().newCDPSession(page);
    cast.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
      const name = join(folder, `${String(frames.length).padStart(5, "0")}.jpg`);
      writeFileSync(name, Buffer.from(data, "base64"));
      frames.push({ file: name, at: metadata.timestamp ?? Date.now() / 1_000 });
      void cast.send("Page.screencastFrameAck", { sessionId }).catch(() => {});
    });
    await cast.send("Page.startScreencast", {
      format: "jpeg",
      quality: 85,
      ...{ maxWidth: SIZE.width, maxHeight: SIZE.height },
    });
    const ends: number[] = [];
    await walkConsole(page, async () => {
      // The cast may still lack what the page shows already.
      const file = join(folder, `${String(frames.length).padStart(5, "0")}-end.jpg`);
      await page.screenshot({ path: file, type: "jpeg", quality: 85 });
      ends.push(frames.push({ file, at: Date.now() / 1_000 }));
    });
    await until(() => frames.length > 0, { what: "the film has frames" });
    await cast.send("Page.stopScreencast");
    // A step's last picture stays long enough to be read; a slow machine's waits are cut, and its cast may come after a later picture.
    const list = frames.map(({ file, at }, n) => {
      const span = Math.min(Math.max((frames[n + 1]?.at ?? at + READ_S) - at, 0.02), 0.6);
      return `file '${file}'\nduration ${(ends.includes(n + 1) ? READ_S : span).toFixed(3)}\n`;
    });
    const listed = join(folder, "frames.txt");
    writeFileSync(listed, `${list.join("")}file '${frames.at(-1)?.file}'\n`);
    const made = [
      "-vf",
      "fps=12,format=yuv420p",
      "-c:v",
      "libx264",
      "-crf",
      "30",
      "-preset",
      "veryslow",
      "-movflags",
      "+faststart",
    ];
    execFileSync("ffmpeg", [
      "-y",
      "-loglevel",
      "error",
      "-f",
      "concat",
      "-safe",
      "0",
      "-i",
      listed,
      ...made,
      file,
    ]);
    return `tour.mp4: ${frames.length} frames, ${Math.round(statSync(file).size / 1024)} KB`;
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
