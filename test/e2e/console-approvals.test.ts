/** The console shows exactly and completely what a person approves, on every screen. */
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import {
  askIn,
  axeFinds,
  openCall,
  openDevice,
  openScreen,
  openWindow,
  signIn,
  useChromium,
} from "./chromium.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env });
  await stack.gateway.online("pi");
});

const append = (text: string) =>
  script(
    { calls: [{ arguments: { agent_id: "pi", action: "append", params: { text } } }] },
    { text: "$results" },
  );

const SENTENCE = "Run append on pi with 1 value?";

describe("approvals", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  useChromium(async (browser) => {
    page = await openWindow(browser);
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });

  const ask = (text: string) => askIn(page, text);
  const rows = () => page.locator(".wait-row");
  /** @returns the sheet of the question in that row, whose name is the sentence */
  async function openSheet(row: Locator): Promise<Locator> {
    await row.getByRole("link", { name: SENTENCE, exact: true }).click();
    const sheet = page.getByRole("dialog", { name: SENTENCE, exact: true });
    await sheet.waitFor();
    return sheet;
  }

  test("S2 invisible characters are shown as escapes, and the card says so", async () => {
    const turn = await ask(append("ls \u202e#fr- mr\u200b\u{e0041}"));
    const asked = turn.getByRole("group", { name: SENTENCE });
    const command = await asked.getByRole("group", { name: "what would be run" }).textContent();
    expect(command).toContain('"text": "ls \\u202e#fr- mr\\u200b\\udb40\\udc41"');
    await asked
      .getByText("Contains characters that cannot be seen, shown as escapes: U+202E, U+200B, U+E0041.")
      .waitFor();
    const card = turn.getByRole("article", { name: "append on pi" });
    await openCall(card);
    expect(await card.locator("code.args").textContent()).toContain("\\u202e");
    expect(await card.textContent()).not.toMatch(/[\u202e\u200b]/);
    expect(await axeFinds(page)).toEqual([]);
    await asked.getByRole("button", { name: "No", exact: true }).click();
    await turn.locator(".answer").waitFor();
  });

  test("S3 a long text shows its head, its tail and the count between, and can be approved after all of it was shown", async () => {
    const turn = await ask(append(`the beginning\n${"and on\n".repeat(3_000)}the very end`));
    const asked = turn.getByRole("group", { name: SENTENCE });
    await asked.getByText("the beginning").waitFor();
    await asked.getByText("the very end").waitFor();
    await asked.getByText(/^2\d,\d{3} more characters between$/).waitFor();
    const approve = asked.getByRole("button", { name: "Run", exact: true });
    expect(await approve.isDisabled()).toBe(true);
    await asked.getByText("Show all of it before you approve.").waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await asked.getByRole("button", { name: "Show all" }).click();
    const all = asked.getByRole("group", { name: "what would be run" });
    expect((await all.textContent())?.split("and on")).toHaveLength(3_001);
    // The box does not hide its end.
    expect(await all.evaluate((box) => box.scrollHeight - box.clientHeight)).toBeLessThanOrEqual(1);
    await expect.poll(() => all.evaluate((box) => box === box.ownerDocument.activeElement)).toBe(true);
    await approve.click();
    await turn.locator(".answer", { hasText: /^appended / }).waitFor();
  });

  test("C1 open questions are counted on every screen and in the title, and listed with their place", async () => {
    const title = "a note of the first one";
    await page.getByRole("button", { name: "New conversation" }).click();
    await ask(`${append("first")}\n${title}`);
    await page.getByRole("link", { name: "Waiting for you (1)" }).waitFor();
    await page.getByRole("button", { name: "New conversation" }).click();
    await ask(append("second"));
    for (const name of ["Devices", "Rules", "Record", "Setup", "Chats"]) {
      await openScreen(page, name);
      await page.getByRole("link", { name: "Waiting for you (2)" }).waitFor();
      await expect.poll(() => page.title()).toBe(`(2) ${name} · edgecall`);
    }
    await page.getByRole("link", { name: "Waiting for you (2)" }).click();
    await rows().nth(1).waitFor();
    expect(await axeFinds(page)).toEqual([]);
    // Its sentence is not all of it, so it is read before it is answered.
    expect(await rows().getByRole("button").count()).toBe(0);
    const sheet = await openSheet(rows().first());
    await sheet.getByText('"first"').waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.textContent")).toBe(SENTENCE);
    await openSheet(rows().first());
    await sheet.getByRole("button", { name: "Run", exact: true }).click();
    await sheet.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Waiting for you (1)" }).waitFor();
    await rows().locator(".second a").click();
    // From its card, over the conversation.
    await page.locator(".turn").getByRole("link", { name: "Open as a sheet" }).click();
    await sheet.getByText('"second"').waitFor();
    await sheet.getByRole("button", { name: "Close; it goes on waiting" }).click();
    await sheet.waitFor({ state: "detached" });
    await page.locator(".turn").getByRole("button", { name: "No", exact: true }).click();
    await page.locator(".turn .answer").waitFor();
    await expect.poll(() => page.title()).toBe("Chats · edgecall");
    expect(await page.getByRole("link", { name: /Waiting for you/ }).count()).toBe(0);
  });

  test("C1 'Try it' shows only its own call's approval", async () => {
    const turn = await ask(append("of the conversation"));
    await turn.getByRole("button", { name: "Run", exact: true }).waitFor();
    const card = await openDevice(page, "pi");
    await card.getByRole("button", { name: /actions/ }).click();
    await card.getByLabel("Action").selectOption("append");
    const form = card.getByRole("form", { name: "Try append" });
    await form.getByLabel("text").fill("of the form");
    await form.getByRole("button", { name: "Try it" }).click();
    await form.getByRole("group", { name: SENTENCE }).getByText('"of the form"').waitFor();
    expect(await form.getByText("of the conversation").count()).toBe(0);
    await page.getByRole("link", { name: "Waiting for you (2)" }).click();
    await rows().getByText("from this console or the API").waitFor();
    for (let left = 2; left > 0; left -= 1) {
      const sheet = await openSheet(rows().first());
      await sheet.getByRole("button", { name: "No", exact: true }).click();
      await sheet.waitFor({ state: "detached" });
      await page.getByText(left > 1 ? `Waiting for you (${left - 1})` : "Nothing waits for you.").waitFor();
    }
  });
});
