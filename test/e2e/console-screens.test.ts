/** Each screen of the console shows what it has, and says so while it is loading. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import {
  answerRead,
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
  writeFileSync(join(stack.workspaceOf("pi"), "note.txt"), "one\ntwo\n");
  await stack.gateway.online("pi");
});

const call = (action: string, params: object = {}) => ({
  calls: [{ arguments: { agent_id: "pi", action, params } }],
});

/** The browser's own types, which these tests in Node lack. */
type Window = { innerHeight: number; getComputedStyle(of: unknown): { textAlign: string } };

describe("the console's screens", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  useChromium(async (browser) => {
    page = await openWindow(browser);
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });

  const screen = (name: string) => openScreen(page, name);
  const ask = (text: string) => askIn(page, text);
  async function clean() {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFinds(page), colorScheme).toEqual([]);
    }
  }

  test("C13 a new conversation shows the devices, three questions for them, and the model", async () => {
    await page.getByRole("listitem").filter({ hasText: "pi" }).first().waitFor();
    const examples = page.locator(".welcome button");
    expect(await examples.count()).toBe(3);
    for (const text of await examples.allTextContents()) expect(text).toMatch(/\bpi\b/);
    await page.getByText(/^Answered by /).waitFor();
    await clean();
    const first = (await examples.first().textContent()) ?? "";
    await examples.first().click();
    await page.locator(".turn .asked", { hasText: first }).waitFor();
  });

  test("C9 the question box has the focus; a stopped turn counts no tokens", async () => {
    await page.getByRole("button", { name: "New conversation" }).click();
    await expect
      .poll(() => page.evaluate("document.activeElement?.getAttribute('aria-label')"))
      .toBe("Message");
    const turn = await ask(script({ hold: "never", step: { text: "never" } }));
    await turn.getByText("thinking").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await turn.locator(".answer.cancelled").waitFor();
    expect(await turn.locator(".foot").textContent()).not.toContain("tokens");
    stack.model.release("never");
  });

  test("a turn that is stopped before the gateway has answered is stopped then", async () => {
    const pressed = Promise.withResolvers<void>();
    await page.route(/\/messages$/, async (route) => {
      await pressed.promise;
      await route.continue();
    });
    const turn = await ask(script({ hold: "never again", step: { text: "never" } }));
    await page.getByRole("button", { name: "Stop" }).click();
    pressed.resolve();
    await turn.locator(".answer.cancelled").waitFor();
    await page.unroute(/\/messages$/);
    stack.model.release("never again");
  });

  test("a question whose answer is lost on the way is sent again, and asked once", async () => {
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.locator(".welcome").waitFor();
    let sent = 0;
    await page.route(/\/messages$/, async (route) => {
      sent += 1;
      if (sent > 1) return await route.continue();
      // It arrives at the gateway, and the answer does not come back.
      await route.fetch();
      await route.abort();
    });
    await ask(script({ text: "Said once." }));
    await expect.poll(() => sent).toBe(2);
    await page.unroute(/\/messages$/);
    const isSaidOnce = async () => {
      await page.locator(".answer", { hasText: "Said once." }).waitFor();
      expect(await page.locator(".turn").count()).toBe(1);
      expect(await page.getByRole("alert").count()).toBe(0);
    };
    await isSaidOnce();
    await page.reload();
    await isSaidOnce();
  });

  test("C9 text before a call stays before it", async () => {
    const turn = await ask(
      script(
        { text: "First I look.", ...call("read", { path: "note.txt" }) },
        { text: "Then I write.", ...call("append", { text: "x" }) },
        { text: "Done with it." },
      ),
    );
    await turn.getByRole("button", { name: "Run", exact: true }).click();
    await turn.locator(".answer", { hasText: "Done with it." }).waitFor();
    const order = await turn
      .locator(":scope > *")
      .evaluateAll((parts) => parts.map(({ textContent }) => textContent ?? ""));
    const at = (words: string) => order.findIndex((text) => text.includes(words) && !text.includes("calls"));
    expect(at("First I look.")).toBeLessThan(at("read"));
    expect(order.findIndex((text) => text.startsWith("pi: read note.txt"))).toBeLessThan(at("Then I write."));
  });

  test("D10 the diff of an edit is shown; C6 a denied call is marked as denied; C10 in words for a person", async () => {
    const edit = call("edit", { path: "note.txt", old_string: "two", new_string: "three" });
    const turn = await ask(script(edit, { text: "Edited." }));
    const asked = turn.getByRole("group", { name: "Change note.txt on pi?" });
    await asked.getByRole("button", { name: "Change", exact: true }).click();
    await turn.locator(".answer", { hasText: "Edited." }).waitFor();
    const diff = await turn.getByRole("group", { name: "for you" }).textContent();
    expect(diff).toContain("three");
    const denied = await ask(script(call("append", { text: "y" }), { text: "It was not done." }));
    await denied.getByRole("button", { name: "No", exact: true }).click();
    await denied.locator(".answer").waitFor();
    const card = denied.getByRole("article", { name: "append on pi" });
    await card.getByText(/^denied/).waitFor();
    expect(await card.getAttribute("class")).toBe("call error");
    await openCall(card);
    await card.getByText("Nothing was run.").waitFor();
    expect(await card.textContent()).not.toMatch(/Explain|do not try|Error:/);
    await clean();
  });

  test("C7 nested lists and task lists are drawn, and a table scrolls on a phone without cutting figures", async () => {
    const row = "| a device with a long name | 1234567.891 | 99.999 | some more words here | 1234567.891 |";
    const text = [
      "1. one\n   - inner\n     - deeper\n2. two",
      "- [x] done\n- [ ] open",
      `| name | sum | share | words | again |\n|---|--:|:-:|---|---|\n${row}`,
    ].join("\n\n");
    const turn = await ask(script({ text }));
    const answer = turn.locator(".answer");
    await answer.locator("ol > li > ul > li > ul > li", { hasText: "deeper" }).waitFor();
    expect(await answer.locator("ol").count()).toBe(1);
    expect(await answer.locator(".task").allTextContents()).toEqual(["☑ done", "☐ open"]);
    await page.setViewportSize({ width: 390, height: 844 });
    const box = answer.getByRole("group", { name: "table" });
    expect(await box.evaluate((one) => one.scrollWidth > one.clientWidth)).toBe(true);
    const cell = answer.locator("td", { hasText: "1234567.891" }).first();
    expect(
      await cell.evaluate((one) => (globalThis as unknown as Window).getComputedStyle(one).textAlign),
    ).toBe("end");
    // One line of text, and its padding.
    expect((await cell.locator("xpath=..").boundingBox())?.height).toBeLessThan(140);
    const figure = await cell.evaluate((one) => {
      const range = one.ownerDocument.createRange();
      range.selectNodeContents(one);
      return range.getClientRects().length;
    });
    expect(figure).toBe(1);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await clean();
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test("C8 while it loads no screen claims to be empty; C6 all screens show the same count of calls", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/v1\/(agents|devices|audit|status|tokens|console\/usage)/, async (route) => {
      await held;
      await route.continue();
    });
    for (const name of ["Home", "Use and cost", "Devices", "Record", "Tokens"]) {
      await screen(name);
      await page.getByRole("status", { name: "Loading" }).first().waitFor();
      expect(await page.getByText(/^0 |No calls are recorded|0 calls|None is connected/).count(), name).toBe(
        0,
      );
      expect(await axeFinds(page), name).toEqual([]);
    }
    release();
    await page.unroute(/\/v1\//);
    await screen("Use and cost");
    await page.getByText(/\d+ succeeded/).waitFor();
    expect(await page.getByText("Calls, two days").count()).toBe(0);
  });

  test("a person who goes to another screen while the conversations load stays there", async () => {
    // A busy browser reports a new address late, and an answer may come before. Later listeners do not hear of it.
    await page.addInitScript(
      `addEventListener("hashchange", (event) => globalThis.isBusy && event.stopImmediatePropagation())`,
    );
    await screen("Setup");
    await page.reload();
    const setup = page.getByRole("heading", { name: "Setup", exact: true });
    await setup.waitFor();
    const list = /\/v1\/conversations(\?|$)/;
    const held = Promise.withResolvers<void>();
    await page.route(list, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.evaluate("location.hash = '#/chat'");
    await setup.waitFor({ state: "hidden" });
    await page.evaluate("isBusy = true; location.hash = '#/setup'");
    const answered = answerRead(page, list);
    held.resolve();
    await answered;
    const frame = "new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))";
    for (let frames = 0; frames < 10; frames += 1) await page.evaluate(frame);
    await page.evaluate("isBusy = false; dispatchEvent(new HashChangeEvent('hashchange'))");
    await setup.waitFor();
    expect(await page.evaluate("location.hash")).toBe("#/setup");
    await page.unroute(list);
  });

  test("C9 the command for a new device scrolls into view", async () => {
    await page.setViewportSize({ width: 390, height: 600 });
    await screen("Devices");
    await page.getByRole("link", { name: /Add a device/ }).click();
    await page.getByRole("button", { name: "Show the command" }).click();
    const command = page.getByRole("group", { name: "Command for the device" });
    await command.waitFor();
    await expect
      .poll(() =>
        command.evaluate((one) => {
          const { top, bottom } = one.getBoundingClientRect();
          return top < (globalThis as unknown as Window).innerHeight && bottom > 0;
        }),
      )
      .toBe(true);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test("C14 Ctrl-K finds a screen and a conversation; an answer can be copied", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await screen("Chats");
    const answer = page.locator(".answer").last();
    await answer.getByRole("button", { name: "Copy" }).click();
    await answer.getByText("Copied.").waitFor();
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Go to" });
    await palette.getByRole("searchbox").fill("recor");
    expect(await axeFinds(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Record" }).waitFor();
    await page.keyboard.press("Control+k");
    await palette.getByRole("searchbox").fill("pi?");
    await palette.getByRole("button").first().click();
    await page.locator(".turn .asked").first().waitFor();
    await palette.waitFor({ state: "hidden" });
  });

  test("G8 Setup: a token is made, shown once, listed, and revoked", async () => {
    await screen("Tokens");
    const panel = page.getByRole("region", { name: "Tokens" });
    await panel.getByText("in the setting API_TOKENS").first().waitFor();
    const form = panel.getByRole("form", { name: "New token" });
    await form.getByLabel("Name").fill("wall display");
    await form.getByLabel(/^command/).check();
    await form.getByRole("button", { name: "Make the token" }).click();
    const token = (await panel.getByRole("group", { name: "the new token" }).textContent()) ?? "";
    const asked = () =>
      fetch(`${stack.gateway.url}/v1/agents`, { headers: { authorization: `Bearer ${token}` } }).then(
        ({ status }) => status,
      );
    expect(await asked()).toBe(200);
    await panel.getByText(/guest; may ask, command/).waitFor();
    await clean();
    await screen("Rules");
    await screen("Tokens");
    await panel.getByText(/guest; may ask, command/).waitFor();
    expect(await page.getByText(token).count()).toBe(0);
    await panel.getByRole("button", { name: "Revoke the token wall display" }).click();
    await panel.getByRole("button", { name: "Cancel" }).click();
    await panel.getByRole("button", { name: "Revoke the token wall display" }).click();
    await panel.getByRole("button", { name: "Yes, revoke" }).click();
    await panel.getByText("wall display").waitFor({ state: "detached" });
    expect(await asked()).toBe(401);

    // A token that made others: they are named, and are revoked with it on request.
    const make = async (bearer: string, name: string) => {
      const headers = { authorization: `Bearer ${bearer}` };
      const body = JSON.stringify({ name, role: "owner", scopes: ["ask", "admin"] });
      const made = await fetch(`${stack.gateway.url}/v1/tokens`, { method: "POST", headers, body });
      return ((await made.json()) as { token: string }).token;
    };
    const lodger = await make(TOKENS.owner, "lodger");
    await make(lodger, "lamp");
    await screen("Rules");
    await screen("Tokens");
    await panel.getByRole("button", { name: "Revoke the token lodger" }).click();
    await panel.getByLabel("Revoke what it made too: lamp").check();
    await clean();
    await panel.getByRole("button", { name: "Yes, revoke" }).click();
    await panel.getByText("lodger").first().waitFor({ state: "detached" });
    await panel.getByText("lamp").first().waitFor({ state: "detached" });
  });

  test("C12 a revoked device is removed from Devices", async () => {
    await stack.agent("pi").stop();
    await screen("Keys of devices");
    await page.getByRole("button", { name: "Revoke the key of pi" }).click();
    await page.getByRole("button", { name: "Yes, revoke" }).click();
    await page
      .getByText(/revoked/)
      .first()
      .waitFor();
    const card = await openDevice(page, "pi");
    await card.getByRole("button", { name: "Remove pi" }).click();
    await clean();
    await card.getByRole("button", { name: "Yes, remove" }).click();
    await card.waitFor({ state: "detached" });
    await screen("Home");
    await page.getByText("What is in your home?").waitFor();
  });
});
