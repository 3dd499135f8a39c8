/** A home's daily usage of its models. */
import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { madeHome } from "../../../../test/made-home.ts";
import { Spending } from "./spending.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;

test("days are summed by model, shown without gaps, and kept for a month", async () => {
  const days = await runInDurableObject(await madeHome(), (_, { storage }) => {
    const spending = new Spending(storage);
    const took = (model: string, input_tokens: number, output_tokens: number, at: number) => {
      spending.add(input_tokens + output_tokens, 1, at);
      spending.correct(0, { model, usage: { input_tokens, output_tokens } }, at);
    };
    took("mini", 1, 1, NOON - 40 * DAY_MS);
    took("mini", 100, 10, NOON - 2 * DAY_MS);
    took("mini", 50, 5, NOON - 2 * DAY_MS);
    took("large", 7, 3, NOON - 2 * DAY_MS);
    // A day that has a budget and no prices.
    spending.add(9, 1, NOON);
    return { shown: spending.days(3, NOON), kept: storage.sql.exec("SELECT day FROM model_usage").toArray() };
  });
  expect(days.shown).toEqual([
    {
      day: "2026-11-20",
      tokens: 175,
      modelCalls: 3,
      models: [
        { model: "large", usage: { input_tokens: 7, output_tokens: 3 } },
        { model: "mini", usage: { input_tokens: 150, output_tokens: 15 } },
      ],
    },
    { day: "2026-11-21", tokens: 0, modelCalls: 0, models: [] },
    { day: "2026-11-22", tokens: 9, modelCalls: 1, models: [] },
  ]);
  expect(days.kept).toEqual([{ day: "2026-11-20" }, { day: "2026-11-20" }]);
});
