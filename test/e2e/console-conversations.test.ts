/** Conversations in the console: long ones, search and names, and the display of a turn that waits or fails. */
import type { Page, Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import {
  answerRead,
  askIn,
  axeFinds,
  holdAnswer,
  openCall,
  openWindow,
  signIn,
  useChromium,
} from "./chromium.ts";
import { action, ownLoop, RESULTS, tool } from "./edge-calls.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env });
  await stack.startAgent({ id: "thinker", model: true });
  const away = await stack.startAgent({ id: "away", env });
  for (const id of ["pi", "thinker", "away"]) await stack.gateway.online(id);
  await away.stop();
  await stack.gateway.offline("away");
});

describe("conversations in the console", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  useChromium(async (browser) => {
    page = await openWindow(browser);
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });

  const ask = (text: string) => askIn(page, text);
  async function begin() {
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.locator(".welcome").waitFor();
  }

  test("G17 a long conversation loads in pages, and the text being read stays in place", async () => {
    const say = async (text: string) => {
      const response = await fetch(`${stack.gateway.url}/v1/conversations/long/messages`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKENS.owner}`, "content-type": "application/json" },
        body: JSON.stringify({ text }),
      });
      expect(response.status).toBe(200);
      await response.body?.cancel();
    };
    for (let nth = 1; nth <= 103; nth += 1) await say(script({ text: `answer ${nth}.` }));
    await page.goto(`${stack.gateway.url}/#/chat/long`);
    const answers = page.locator(".turn .answer");
    await answers.filter({ hasText: "answer 103." }).waitFor();
    expect(await answers.count()).toBe(100);
    const turns = page.getByRole("log", { name: "Conversation" });
    await turns.evaluate((box: { scrollTop: number }) => {
      box.scrollTop = 0;
    });
    const seen = answers.filter({ hasText: "answer 4." });
    const before = await seen.boundingBox();
    await page.getByRole("button", { name: "Earlier messages" }).click();
    await answers.filter({ hasText: "answer 1." }).waitFor();
    expect(await answers.count()).toBe(103);
    expect(await answers.first().textContent()).toContain("answer 1.");
    const button = page.getByRole("button", { name: "Earlier messages" });
    await button.waitFor({ state: "hidden" });
    // Only the button disappeared, so the text below it moved up by no more than its height.
    const after = await seen.boundingBox();
    expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(2);
    await expect
      .poll(() => page.evaluate("document.activeElement?.getAttribute('aria-label')"))
      .toBe("Conversation");
    // Later events leave the older turns in place.
    await ask(script({ text: "answer 104." }));
    await answers.filter({ hasText: "answer 104." }).waitFor();
    expect(await answers.count()).toBe(104);
  });

  test("G9 a model endpoint that wants a pause: the reason is shown with its seconds until it continues", async () => {
    await begin();
    const turn = await ask(
      script(
        { status: 429, headers: { "retry-after": "6" }, body: { error: { message: "slow down" } } },
        { text: "On again." },
      ),
    );
    const paused = turn.locator(".thinking");
    await paused.filter({ hasText: /slow down · asks again in [1-7] s/ }).waitFor();
    await turn.locator(".answer", { hasText: "On again." }).waitFor();
    expect(await paused.count()).toBe(0);
  });

  test("C6 an answer whose inner call failed is not marked as done, and shows that call", async () => {
    await begin();
    const turn = await ask(
      script(ownLoop("thinker", tool("read", { path: "none.txt" }), { text: "So be it." }), RESULTS),
    );
    await turn.locator(".answer", { hasText: "So be it." }).waitFor();
    const card = turn.getByRole("article", { name: "asked in words on thinker" });
    expect(await card.getAttribute("class")).toBe("call partial");
    await card.getByText(/^done, 1 call failed/).waitFor();
    await openCall(card);
    const inner = card.locator(".inner.error");
    await inner.waitFor();
    expect(await inner.textContent()).toMatch(/read.*none\.txt/s);
    expect(await inner.textContent()).not.toMatch(/Error:|the user/);
  });

  test("C9 a failed turn can be retried with a button", async () => {
    await begin();
    const turn = await ask(
      script({ status: 401, body: { error: { message: "no key" } } }, { text: "Here I am." }),
    );
    await turn.locator(".answer.failed", { hasText: "no key" }).waitFor();
    await turn.getByRole("button", { name: "Retry" }).click();
    await page.locator(".answer.done", { hasText: "Here I am." }).waitFor();
    expect(await page.locator(".turn").count()).toBe(2);
    expect(await page.locator(".turn").getByRole("button", { name: "Retry" }).count()).toBe(0);
  });

  test("C9 an offline device is mentioned once", async () => {
    await begin();
    const turn = await ask(script(action("away", "append", { text: "x" }), RESULTS));
    await turn.locator(".answer", { hasText: "is not online" }).waitFor();
    const card = turn.getByRole("article", { name: "append on away" });
    await card.getByText(/^offline/).waitFor();
    await openCall(card);
    expect(await turn.getByText(/is not online/).count()).toBe(1);
  });

  test("C14 a conversation is renamed, and found by words of its title; code is copied", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await begin();
    const turn = await ask(script({ text: "Run this:\n\n```sh\nuptime -p\n```" }));
    await turn.locator(".answer").getByRole("button", { name: "Copy this code" }).click();
    await turn.getByText("Copied.").waitFor();
    expect((await page.evaluate<string>("navigator.clipboard.readText()")).trim()).toBe("uptime -p");

    await page.getByRole("button", { name: "Rename this conversation" }).click();
    await page.getByLabel("Title", { exact: true }).fill("Uptime of the attic");
    expect(await axeFinds(page)).toEqual([]);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Uptime of the attic" }).waitFor();
    const list = page.getByRole("complementary", { name: "Conversations" });
    await list.getByRole("listitem").filter({ hasText: "Uptime of the attic" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Uptime of the attic" }).waitFor();
    await page.getByLabel("Search conversations").fill("ATTIC");
    await expect.poll(() => list.getByRole("listitem").count()).toBe(1);
    await page.getByLabel("Search conversations").fill("no such words");
    await list.getByText("No title contains these words.").waitFor();
    await page.getByLabel("Search conversations").fill("");
    await expect.poll(() => list.getByRole("listitem").count()).toBeGreaterThan(1);
  });

  describe("the list, which keeps what happens while it is loaded", () => {
    const LIST = /\/v1\/conversations$/;
    const list = () => page.getByRole("complementary", { name: "Conversations" }).getByRole("listitem");

    /** Opens the page anew. The gateway has read the list for it, and its answer arrives with the returned function. */
    async function loading(): Promise<() => Promise<void>> {
      const { read, pass } = await holdAnswer(page, LIST);
      await page.reload();
      await read;
      return async () => {
        pass();
        await list().first().waitFor();
      };
    }

    const answered = async (text: string) => {
      await begin();
      await ask(script({ text }));
      await page.locator(".answer", { hasText: text }).waitFor();
    };

    test("a new name stays, and what was deleted stays away", async () => {
      await answered("It stays.");
      await answered("It goes.");
      const named = await loading();
      await page.getByRole("button", { name: "Rename this conversation" }).click();
      await page.getByLabel("Title", { exact: true }).fill("Named meanwhile");
      const renamed = page.waitForEvent("requestfinished", (request) => request.method() === "PATCH");
      await page.getByRole("button", { name: "Save" }).click();
      await renamed;
      await named();
      await page.getByRole("heading", { level: 1, name: "Named meanwhile" }).waitFor();
      expect(await list().filter({ hasText: "Named meanwhile" }).count()).toBe(1);

      const deleted = await loading();
      await page.getByRole("button", { name: "Delete this conversation" }).click();
      await page.getByRole("button", { name: "Yes, delete" }).click();
      await page.locator(".welcome").waitFor();
      await deleted();
      expect(await list().filter({ hasText: "Named meanwhile" }).count()).toBe(0);
    });

    test("a conversation that Home begins is the first one, before the gateway lists it", async () => {
      await answered("It was before.");
      const listed = answerRead(page, LIST);
      const asked = async (route: Route) => {
        await listed;
        await route.continue();
      };
      await page.evaluate(`location.hash = "#/home"`);
      const field = page.getByRole("search").getByRole("textbox");
      await field.fill(script({ text: "Begun on Home." }));
      await page.route(/\/messages$/, asked, { times: 1 });
      await field.press("Enter");
      // It was shown before the answer was.
      await list().filter({ hasText: "It was before." }).waitFor();
      expect(await list().first().textContent()).toContain("Begun on Home.");
      await page.locator(".answer", { hasText: "Begun on Home." }).waitFor();
      expect(await list().first().textContent()).toContain("Begun on Home.");
    });
  });
});
