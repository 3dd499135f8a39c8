/** An owner chooses in three lines what may be done. The gateway's side is tested in workerd; here is what the page shows and sends. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { axeFinds, openWindow, PHONE, signIn, useChromium } from "./chromium.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async () => {});

const of = (id: string, acts: string[], asks: string[], more = {}) => ({
  ...{ id, name: id, area: "Hall", allow: `allow-${id}`, mode: "ask", chosen: false, acts, asks },
  ...more,
});
const DEVICES = [
  of("lamp", ["set"], ["set_power_on"]),
  of("plug", ["set"], [], { mode: "allowed", chosen: true }),
  of("front-door", ["lock"], ["unlock"]),
  of("siren", [], ["on"]),
];

describe("Setup's page of profiles", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  let german: Page;
  const sent: unknown[] = [];
  let devices = DEVICES;
  const open = async (one: Page) => {
    await one.route("**/v1/profile", async (route) => {
      if (route.request().method() === "GET") return await route.fulfill({ json: { devices } });
      sent.push(route.request().postDataJSON());
      await route.fulfill({ status: 204 });
    });
    await signIn(one, stack.gateway.url, TOKENS.owner, "#/setup/profile");
  };
  useChromium(async (browser) => {
    page = await openWindow(browser);
    await open(page);
    german = await openWindow(browser, PHONE);
    await open(german);
    await german.evaluate('localStorage.setItem("edgecall.language", "de")');
    await german.reload();
  });

  test("trust is given to each device: what is ticked is sent as it was seen, what is ticked no more asks again", async () => {
    // The home's present state is chosen: one device may act.
    expect(await page.getByRole("radio", { name: /Trusted devices act/ }).isChecked()).toBe(true);
    expect(await page.getByRole("checkbox").count()).toBe(3);
    // What would be so is not told as what is so.
    await page.getByText("If ticked, it asks no more: lock; Asks all the same: unlock").waitFor();
    await page.getByText("Asks no more: set", { exact: true }).waitFor();
    await page.getByRole("checkbox", { name: /lamp/ }).check();
    await page.getByRole("checkbox", { name: /plug/ }).uncheck();
    expect(await axeFinds(page)).toEqual([]);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved for 2 devices").waitFor();
    expect(sent).toEqual([
      { profile: "act", devices: [{ id: "lamp", allow: "allow-lamp" }] },
      { profile: "ask", devices: [{ id: "plug", allow: "allow-plug" }] },
    ]);
  });

  test("the last device that is trusted can be unticked", async () => {
    sent.length = 0;
    await page.reload();
    await page.getByRole("checkbox", { name: /plug/ }).uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved for 1 device").waitFor();
    expect(sent).toEqual([{ profile: "ask", devices: [{ id: "plug", allow: "allow-plug" }] }]);
  });

  test("of devices that act, those that were ticked or unticked are sent, whatever another person did meanwhile", async () => {
    sent.length = 0;
    await page.reload();
    const lamp = page.getByRole("checkbox", { name: /lamp/ });
    const door = page.getByRole("checkbox", { name: /front-door/ });
    await lamp.check();
    devices = DEVICES.map((device) => ({ ...device, mode: "allowed", chosen: true }));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved for 1 device").waitFor();
    expect(await door.isChecked()).toBe(true);
    await lamp.uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved for 1 device").waitFor();
    expect(sent).toEqual([
      { profile: "act", devices: [{ id: "lamp", allow: "allow-lamp" }] },
      { profile: "ask", devices: [{ id: "lamp", allow: "allow-lamp" }] },
    ]);
    devices = DEVICES;
  });

  test("only look is for all that are shown, without those that are taken out", async () => {
    sent.length = 0;
    await page.getByRole("radio", { name: /Only look/ }).check();
    await page.getByRole("checkbox", { name: /front-door/ }).uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved for 3 devices").waitFor();
    const ids = (sent as [{ devices: { id: string }[] }])[0].devices.map(({ id }) => id);
    expect(ids).toEqual(["lamp", "plug", "siren"]);
  });

  test("in German it fits a phone", async () => {
    await german.getByRole("radio", { name: /Vertraute Geräte handeln/ }).waitFor();
    await german.getByText("Fragt trotzdem: unlock", { exact: false }).waitFor();
    expect(await german.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(await axeFinds(german)).toEqual([]);
  });
});
