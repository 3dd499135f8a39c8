/** An owner gives the home a model in Setup: tries it, stops a trial, saves it, is answered by it, and removes it. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { askIn, axeFinds, openScreen, openWindow, PHONE, signIn, useChromium } from "./chromium.ts";
import { useStack } from "./stack.ts";

const KEY = "sk-never-shown-0123456789";
const stack = useStack({ vars: { LLM_BASE_URL: "", LLM_MODEL: "" } }, async () => {});

describe("Setup's card Model", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  useChromium(async (browser) => {
    page = await openWindow(browser);
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });
  const card = () => page.locator(".panel", { has: page.getByRole("heading", { name: "Model" }) });
  const press = (name: string) => card().getByRole("button", { name, exact: true }).click();

  test("a trial is told step by step to its verdict; another one ends when Cancel is pressed", async () => {
    await openScreen(page, "Model");
    await card().getByText("None yet.", { exact: false }).waitFor();
    await card().getByRole("textbox", { name: "Address" }).fill(stack.model.url);
    await card().getByRole("textbox", { name: "Model", exact: true }).fill("scripted");
    await press("Try");
    await card().getByText("calls tools", { exact: true }).waitFor();
    await card().getByText("This model is not good enough:", { exact: false }).waitFor();
    const asked = stack.model.requests.length;
    expect(asked).toBeGreaterThan(1);

    // A server that takes the question and is silent.
    await page.route("**/v1/model/try", () => {});
    await press("Try");
    await card().getByText("Trying", { exact: false }).waitFor();
    await press("Cancel");
    await card().getByRole("button", { name: "Cancel" }).waitFor({ state: "hidden" });
    await page.unroute("**/v1/model/try");
    expect(stack.model.requests).toHaveLength(asked);
    expect(await axeFinds(page)).toEqual([]);
  });

  test("what is wrong with an address is said", async () => {
    await card().getByRole("textbox", { name: "Address" }).fill("http://api.example.com/v1");
    await press("Save");
    await card().getByRole("alert").filter({ hasText: "base_url: expected https" }).waitFor();
  });

  test("saved, it answers in a conversation; its key comes back in no page", async () => {
    await card().getByRole("textbox", { name: "Address" }).fill(stack.model.url);
    await card().getByLabel("Key (if it wants one)").fill(KEY);
    await press("Save");
    await card().getByText(`scripted at ${stack.model.url}, set by anna.`).waitFor();
    expect(await card().getByLabel("Key (empty: the stored one)").inputValue()).toBe("");
    expect(await page.content()).not.toContain(KEY);
    await openScreen(page, "Chats");
    const turn = await askIn(page, script({ text: "The model of Setup answers." }));
    await turn.locator(".answer", { hasText: "The model of Setup answers." }).waitFor();
  });

  test("it fits a phone, and removed it is gone", async () => {
    await page.setViewportSize(PHONE);
    await page.goto(`${stack.gateway.url}/#/setup/model`);
    await card().getByText("set by anna", { exact: false }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    await press("Remove the model");
    await press("Yes, remove");
    await card().getByText("None yet.", { exact: false }).waitFor();
  });
});
