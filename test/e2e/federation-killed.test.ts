/** Two homes (two-homes.ts), each gateway killed at each step of a call that one lends to the other. */
import { describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { RESULTS } from "./edge-calls.ts";
import type { Question } from "./gateway-client.ts";
import type { PeerTap } from "./peer-tap.ts";
import type { Stack } from "./stack.ts";
import { append, questionAt, testWhatEachSideLearns, useTwoHomes } from "./two-homes.ts";

const homes = await useTwoHomes();
const { lender, borrower, taps, marks, askedAtLender, restart } = homes;

describe("killed at each arrow, the call has one effect and one answer", () => {
  const ARROWS: ReadonlyArray<readonly [string, (tried: () => void) => void, Stack]> = [
    [
      "the borrower, before its call leaves",
      (tried) => onceAt(taps.lender, "call", "request", tried),
      borrower,
    ],
    ["the lender, before it has the call", (tried) => onceAt(taps.lender, "call", "request", tried), lender],
    [
      "the borrower, before it knows that the call is taken",
      (tried) => onceAt(taps.lender, "call", "answer", tried),
      borrower,
    ],
    ["the lender, after it took the call", (tried) => onceAt(taps.lender, "call", "answer", tried), lender],
    [
      "the borrower, before the outcome comes",
      (tried) => onceAt(taps.borrower, "outcome", "request", tried),
      borrower,
    ],
    [
      "the lender, while it brings the outcome",
      (tried) => onceAt(taps.borrower, "outcome", "request", tried),
      lender,
    ],
    [
      "the borrower, after it has the outcome",
      (tried) => onceAt(taps.borrower, "outcome", "answer", tried),
      borrower,
    ],
    [
      "the lender, before it knows that the outcome arrived",
      (tried) => onceAt(taps.borrower, "outcome", "answer", tried),
      lender,
    ],
  ];

  /** The first time that this passes, it is lost, and the test is told. */
  function onceAt(tap: PeerTap, kind: string, at: "request" | "answer", tried: () => void): void {
    let isFirst = true;
    const lose = ({ path }: { path: string }) => {
      if (!isFirst || !path.endsWith(`/${kind}`)) return "pass";
      isFirst = false;
      tried();
      return "lose";
    };
    if (at === "request") tap.onRequest = lose;
    else tap.onAnswer = lose;
  }

  test.each(ARROWS)(
    "%s",
    async (_, arrange, killed) => {
      const before = marks();
      let wasTried = false;
      arrange(() => {
        wasTried = true;
      });
      const conversation = crypto.randomUUID();
      const id = await borrower.gateway.begin(script(append("four"), RESULTS), conversation);
      const isOver = until(() => wasTried, { within: 30_000, what: "the arrow" }).then(() => restart(killed));
      const question = await questionAt(lender.gateway, 45_000);
      let wasCut = false;
      const cut = () => {
        wasCut = true;
      };
      const status = await until(() => lender.gateway.answer(question.id, "approve").catch(cut));
      // The lender may have been killed after it had the answer and before it said so.
      expect(wasCut ? [200, 409] : [200]).toContain(status);
      await isOver;
      const turn = await borrower.gateway.settled(conversation, id, 60_000);
      expect(turn.answer).toMatch(/appended/);
      expect(turn.calls).toHaveLength(1);
      expect(marks()).toBe(before + 1);
      await until(async () => (await lender.gateway.agents()).every(({ counts }) => counts.open === 0), {
        what: "nothing is open at the lender",
      });
    },
    150_000,
  );

  test("the lathe, while its owner is asked: said as not run, or asked once more", async () => {
    const before = marks();
    const { ended } = await askedAtLender(append("five"));
    await lender.agent("lathe").kill();
    await lender.restartAgent("lathe");
    const turn = ended();
    let isOver = false;
    void turn.finally(() => {
      isOver = true;
    });
    await until(
      async () => {
        const { questions } = (await (await lender.gateway.fetch("/v1/questions")).json()) as {
          questions: Question[];
        };
        for (const { id } of questions) await lender.gateway.answer(id, "deny");
        return isOver;
      },
      { within: 60_000, every: 100, what: "the end of the turn" },
    );
    expect((await turn).answer).toMatch(/not approved|denied|unknown|not run/i);
    expect(marks()).toBe(before);
  }, 90_000);
});

testWhatEachSideLearns(homes);
