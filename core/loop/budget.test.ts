import fc from "fast-check";
import { expect, test } from "vitest";
import { de } from "../phrases/languages/de.ts";
import { Phrases } from "../phrases/phrases.ts";
import { BUDGET_SCOPES, type BudgetLimits, budgetDay, checkBudget, type Spent, type Used } from "./budget.ts";

const NOW = Date.parse("2026-11-21T22:15:00Z");
const none: Spent = { tokens: 0, modelCalls: 0 };
const used = (more: Partial<Used>): Used => ({ turn: none, conversation: none, day: none, ...more });
const tokens = (n: number): Spent => ({ tokens: n, modelCalls: 0 });

test("without limits nothing is limited", () => {
  expect(checkBudget(used({ day: { tokens: 1e12, modelCalls: 1e9 } }), {}, NOW)).toEqual({ state: "ok" });
});

test("in the conversation's language", () => {
  const limits: BudgetLimits = { conversation: { tokens: 10_000 } };
  const german = new Phrases(de);
  expect(checkBudget(used({ conversation: tokens(8_123) }), limits, NOW, [], german)).toMatchObject({
    text: "81 % des Budgets dieses Gesprächs sind verbraucht: 8 123 von 10 000 Token.",
  });
  expect(checkBudget(used({ conversation: tokens(10_000) }), limits, NOW, [], german)).toMatchObject({
    text: "Das Budget dieses Gesprächs ist aufgebraucht: 10 000 von 10 000 Token. Ein neues Gespräch beginnt mit einem frischen.",
  });
});

test("below 80 %, at 80 %, and told before", () => {
  const limits: BudgetLimits = { conversation: { tokens: 10_000 } };
  expect(checkBudget(used({ conversation: tokens(7_999) }), limits, NOW)).toEqual({ state: "ok" });
  expect(checkBudget(used({ conversation: tokens(8_123) }), limits, NOW)).toEqual({
    state: "notice",
    text: "81 % of the budget of this conversation is used: 8 123 of 10 000 tokens.",
    keys: ["conversation.tokens"],
  });
  expect(checkBudget(used({ conversation: tokens(9_999) }), limits, NOW, ["conversation.tokens"])).toEqual({
    state: "ok",
  });
});

test("the day's budget: how much is left, and when it is renewed", () => {
  expect(checkBudget(used({ day: tokens(1_200_000) }), { day: { tokens: 1_000_000 } }, NOW)).toEqual({
    state: "refused",
    text: "The budget of this home for today is used up: 1 200 000 of 1 000 000 tokens. The one for today is free again at 2026-11-22 00:00 UTC, in 105 min.",
    keys: ["day.tokens"],
    freeAt: Date.parse("2026-11-22T00:00:00Z"),
  });
});

test("a limit that time does not renew says what does", () => {
  const calls = { tokens: 0, modelCalls: 20 };
  const verdict = checkBudget(
    used({ turn: calls, conversation: calls }),
    { turn: { modelCalls: 20 }, conversation: { modelCalls: 20 } },
    NOW,
  );
  expect(verdict).toEqual({
    state: "refused",
    text: "The budget for one question is used up: 20 of 20 model calls. The budget of this conversation is used up: 20 of 20 model calls. A new conversation starts with a fresh one. Each question starts with a fresh one: ask for a smaller part.",
    keys: ["turn.modelCalls", "conversation.modelCalls"],
  });
});

test("a budget of nothing refuses at once", () => {
  expect(checkBudget(used({}), { day: { modelCalls: 0 } }, NOW)).toMatchObject({ state: "refused" });
});

test("a new day begins at midnight UTC", () => {
  expect(budgetDay(NOW)).toBe("2026-11-21");
  const free = checkBudget(used({ day: tokens(1) }), { day: { tokens: 1 } }, NOW);
  expect(free.state === "refused" && budgetDay(free.freeAt ?? 0)).toBe("2026-11-22");
});

test("property: refused exactly when one is used up; a notice is given once for each", () => {
  const spent = fc.record({ tokens: fc.nat(200), modelCalls: fc.nat(200) });
  const limit = fc.record({ tokens: fc.nat(200), modelCalls: fc.nat(200) }, { requiredKeys: [] });
  const all = <T>(one: fc.Arbitrary<T>) => fc.record({ turn: one, conversation: one, day: one });
  fc.assert(
    fc.property(all(spent), all(limit), (usedSoFar, limits) => {
      const verdict = checkBudget(usedSoFar, limits, NOW);
      const over = BUDGET_SCOPES.some(
        (scope) =>
          usedSoFar[scope].tokens >= (limits[scope].tokens ?? Number.POSITIVE_INFINITY) ||
          usedSoFar[scope].modelCalls >= (limits[scope].modelCalls ?? Number.POSITIVE_INFINITY),
      );
      expect(verdict.state === "refused").toBe(over);
      if (verdict.state === "notice") {
        expect(checkBudget(usedSoFar, limits, NOW, verdict.keys)).toEqual({ state: "ok" });
      }
    }),
  );
});
