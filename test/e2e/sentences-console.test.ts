/** Plain sentences in the console: the demo home in three languages, while the model refuses. */
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { askIn, axeFinds, openScreen, openWindow, signIn, useChromium } from "./chromium.ts";
import { SPOKEN, useSpokenHome } from "./spoken-home.ts";

const { stack, house, refused, settle } = useSpokenHome();

describe("plain sentences in the console", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  useChromium(async (browser) => {
    page = await openWindow(browser);
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });

  /** Waits for an answer that says that no model gave it. */
  const answered = async (turn: Locator, text: string | RegExp) => {
    await turn.locator(".answer", { hasText: text }).waitFor();
    await turn.getByText("Answered without a model.").waitFor();
  };

  describe.each(SPOKEN)("in $language", (spoken) => {
    beforeAll(async () => {
      await settle(spoken);
      await page.getByRole("button", { name: "New conversation" }).click();
    });

    test("a command is done when the device says so", async () => {
      const [says, answer] = spoken.command;
      await answered(await askIn(page, says), answer);
    });

    test("a question is answered from what the device reported", async () => {
      const [says, answer] = spoken.question;
      await answered(await askIn(page, says), answer);
    });

    test("which of two is meant is asked back, and the name of one is enough", async () => {
      const [says, back] = spoken.which;
      await answered(await askIn(page, says), back);
      const [chosen, answer] = spoken.chosen;
      await answered(await askIn(page, chosen), answer);
    });

    test("a watch is made, and tells when it is so", async () => {
      const [says, made] = spoken.watch;
      const turn = await askIn(page, says);
      await turn.getByText(made).filter({ visible: true }).first().waitFor();
      await turn.getByText("Answered without a model.").waitFor();
      house().happen("leak");
      const notice = page.locator(".turn").last();
      await notice.getByText(spoken.fires).waitFor();
      expect(await notice.getByRole("button").count()).toBe(3);
    });

    test("many devices are asked about in one question, and each is told with what it said", async () => {
      const [says, [done, dead]] = spoken.plural;
      const turn = await askIn(page, says);
      const [sentence, verb] = spoken.asks;
      const asked = turn.getByRole("group", { name: sentence });
      await asked.getByRole("button", { name: verb, exact: true }).click();
      await answered(turn, dead);
      await answered(turn, done);
      expect(await axeFinds(page)).toEqual([]);
    });

    test("what needs the model, which is down, is said with what works without it", async () => {
      const [says, parts] = spoken.general;
      const before = refused();
      const turn = await askIn(page, says);
      for (const part of ["401", ...parts]) await turn.getByText(part).first().waitFor();
      expect(await turn.getByText("Answered without a model.").count()).toBe(0);
      expect(refused()).toBe(before + 1);
    });
  });

  test("the languages that no native speaker has read are called beta, below an answer and in Setup", async () => {
    const beta = /Beta, .*: German, French, .* Chinese\.$/;
    await page.locator(".turn").first().getByTitle(beta).waitFor();
    await openScreen(page, "This gateway");
    await page.getByText(/^English\. Beta, .*: German, French, .* Chinese\.$/).waitFor();
  });

  test("the model was asked for nothing else", () => expect(refused()).toBe(SPOKEN.length));
});
