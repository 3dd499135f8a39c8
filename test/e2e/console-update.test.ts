/**
 * The console updates agents on Devices and the bridge in Setup. The programs are today's code with an older version, and the test
 * plays root's part.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import type { UpdateOutcomes } from "@edgecall/node/systemd/update.ts";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { openPrograms } from "../kept/programs.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { axeFinds, openDevice, openScreen, signIn, useChromium } from "./chromium.ts";
import { useStack } from "./stack.ts";

/** The last that this gateway takes before its own. */
const OLD = "0.4.9";
const folder = mkdtempSync(join(tmpdir(), "edgecall-console-update-"));
const programs = openPrograms();
afterAll(() => {
  for (const path of [folder, programs.folder]) rmSync(path, { recursive: true, force: true });
});
const updates = (name: string) => join(folder, `${name}-updates.json`);
const env = (name: string) => ({ STATE_DIRECTORY: join(folder, name), EDGECALL_UPDATES: updates(name) });

mkdirSync(join(folder, "bridge"));
const oldBridge = await programs.ofToday("bridge", OLD);
const stack = useStack({ bridge: env("bridge"), bridgeScript: oldBridge }, async (stack) => {
  const script = await programs.ofToday("agent", OLD);
  await stack.startAgent({ id: "pi", env: env("pi"), top: { state_dir: join(folder, "pi") }, script });
  // It has this gateway's version, and no service that could update it.
  await stack.startAgent({ id: "plain" });
  await Promise.all([stack.gateway.online("pi"), stack.gateway.online("plain")]);
});

const tell = (name: string, outcomes: UpdateOutcomes) =>
  writeFileSync(updates(name), JSON.stringify(outcomes));

/** Root's part: takes the request and reports that. @returns the request's id */
async function taken(name: string): Promise<string> {
  const request = join(folder, name, "update-request");
  await until(() => existsSync(request), { within: 20_000, what: `the request of ${name}` });
  const id = readFileSync(request, "utf8");
  tell(name, { asked: { id, done: false, ok: false, text: "", at: "now" } });
  rmSync(request);
  return id;
}

describe("Devices and Setup", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  useChromium(async (browser) => {
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(30_000);
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });

  test("a device of another version is updated after approval, and 'done' appears when it reports back", async () => {
    const card = await openDevice(page, "pi");
    await card.getByText(OLD).waitFor();
    expect(await page.getByRole("button", { name: "(plain)" }).count()).toBe(0);
    await card.getByRole("button", { name: `Update to ${VERSION} (pi)` }).click();
    await card.getByRole("group", { name: /^Run update_self on pi/ }).waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await card.getByRole("button", { name: "Run", exact: true }).click();
    const id = await taken("pi");
    await card.getByRole("button", { name: "Updating… (pi)" }).waitFor();
    await card.getByText("It installs the new program").waitFor();
    await stack.agent("pi").stop();
    await stack.restartAgent("pi");
    tell("pi", {
      asked: { id, done: true, ok: false, text: `it did not come online; back to ${OLD}`, at: "now" },
    });
    await card.getByRole("alert").getByText(`it did not come online; back to ${OLD}`).waitFor();
    // The update can be tried again.
    await card.getByRole("button", { name: `Update to ${VERSION} (pi)` }).waitFor();
  }, 90_000);

  test("the bridge's line shows its version, and updates it through its own restart", async () => {
    await openScreen(page, "This gateway");
    const bridge = page.getByRole("region", { name: "Bridge" });
    await bridge.getByText(OLD).waitFor();
    await bridge.getByRole("button", { name: `Update to ${VERSION} (bridge)` }).click();
    const id = await taken("bridge");
    await stack.bridge.stop();
    tell("bridge", {
      asked: { id, done: true, ok: true, text: `${VERSION} is online; before it ${OLD}`, at: "now" },
    });
    await stack.startBridge("e2e", "bridge/main.ts");
    await bridge.getByRole("status").getByText(`${VERSION} is online; before it ${OLD}`).waitFor();
    expect(await bridge.getByRole("button").count()).toBe(0);
  }, 90_000);
});
