/** What a home spends on models, and which models are healthy: one row a day, one a day and priced model, one a failing model. */

import { type BudgetKey, budgetDay, type Spent } from "@edgecall/core/loop/budget.ts";
import type { Usage } from "@edgecall/core/loop/history.ts";
import { type ModelHealth, noteFailure } from "@edgecall/core/loop/models.ts";
import type { DayUsage, ModelUsage } from "../../api/usage.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";

/** A month and one day. */
const KEEP_DAYS = 32;
/** Rows of models whose name begins with this hold an agent's share. No model's name begins with it. */
const RELAYED = "#";
const DAY_MS = 86_400_000;

type DayTotal = { day: string; spent: Spent; told: BudgetKey[] };

export class Spending extends SqlStore {
  /** What was read last, until it is written: every plan asks for both. */
  #today: DayTotal | undefined;
  #health: ModelHealth | undefined;

  today(now: number): Readonly<DayTotal> {
    const day = budgetDay(now);
    if (this.#today?.day !== day) this.#today = this.#read(day);
    return this.#today;
  }

  #read(day: string): DayTotal {
    const row = this.sql.first<{ tokens: number; model_calls: number; told: string }>`SELECT tokens,
      model_calls, told FROM usage WHERE day = ${day}`;
    if (!row) return { day, spent: { tokens: 0, modelCalls: 0 }, told: [] };
    return {
      day,
      spent: { tokens: row.tokens, modelCalls: row.model_calls },
      told: JSON.parse(row.told) as BudgetKey[],
    };
  }

  /** @param tokens may be negative: a reservation was more than the call took */
  add(tokens: number, modelCalls: number, now: number): void {
    this.#today = undefined;
    this.sql.exec`INSERT INTO usage (day, tokens, model_calls)
      VALUES (${budgetDay(now)}, MAX(0, ${tokens}), ${modelCalls}) ON CONFLICT (day) DO UPDATE
      SET tokens = MAX(0, tokens + ${tokens}), model_calls = model_calls + ${modelCalls}`;
    this.sql.exec("DELETE FROM usage WHERE day < ?", budgetDay(now - KEEP_DAYS * DAY_MS));
  }

  /** A call took so much more (or less) than was reserved for it. @param priced absent: no model has a price */
  correct(difference: number, priced: ModelUsage | undefined, now: number): void {
    this.add(difference, 0, now);
    if (priced) this.#addUsage(priced, now);
  }

  #addUsage({ model, usage }: ModelUsage, now: number): void {
    this.sql.insert(
      "INTO model_usage",
      { day: budgetDay(now), model, input_tokens: usage.input_tokens, output_tokens: usage.output_tokens },
      `ON CONFLICT (day, model) DO UPDATE SET input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens`,
    );
    this.sql.exec("DELETE FROM model_usage WHERE day < ?", budgetDay(now - KEEP_DAYS * DAY_MS));
  }

  /** Tokens of the gateway's model that an agent took today, over the relay. */
  relayed(agent: string, now: number): number {
    const row = this.sql.first<{ tokens: number }>`SELECT input_tokens AS tokens FROM model_usage
      WHERE day = ${budgetDay(now)} AND model = ${RELAYED + agent}`;
    return row?.tokens ?? 0;
  }

  /** @param tokens may be negative, as in `add` */
  addRelayed(agent: string, tokens: number, now: number): void {
    this.#addUsage({ model: RELAYED + agent, usage: { input_tokens: tokens, output_tokens: 0 } }, now);
  }

  /** So many days up to today, the oldest first. Days without a row are zero. */
  days(count: number, now: number): DayUsage[] {
    const days = Array.from({ length: count }, (_, at) => budgetDay(now - (count - 1 - at) * DAY_MS));
    const since = days[0] ?? "";
    const totals = this.sql.all<{ day: string; tokens: number; model_calls: number }>`SELECT day, tokens,
      model_calls FROM usage WHERE day >= ${since}`;
    const models = this.sql.all<{ day: string; model: string } & Usage>(
      "SELECT * FROM model_usage WHERE day >= ? AND model NOT LIKE ?",
      since,
      `${RELAYED}%`,
    );
    return days.map((day) => {
      const { tokens = 0, model_calls: modelCalls = 0 } = totals.find((one) => one.day === day) ?? {};
      const own = models
        .filter((one) => one.day === day)
        .map(({ model, input_tokens, output_tokens }) => ({ model, usage: { input_tokens, output_tokens } }));
      return { day, tokens, modelCalls, models: own };
    });
  }

  setTold(keys: readonly BudgetKey[], now: number): void {
    const told = [...new Set([...this.today(now).told, ...keys])];
    this.#today = undefined;
    this.sql.exec("UPDATE usage SET told = ? WHERE day = ?", JSON.stringify(told), budgetDay(now));
  }

  health(): ModelHealth {
    this.#health ??= this.#readHealth();
    return this.#health;
  }

  #readHealth(): ModelHealth {
    const rows = this.sql.exec<{ name: string; failures: number; cool_until: number }>(
      "SELECT * FROM model_health",
    );
    return Object.fromEntries(
      rows.toArray().map(({ name, failures, cool_until }) => [name, { failures, coolUntil: cool_until }]),
    );
  }

  /** @param times more than 1 for a failure that waiting does not mend */
  modelFailed(name: string, times: number, now: number): void {
    let health = this.health();
    for (let time = 0; time < times; time += 1) health = noteFailure(health, name, now);
    const { failures = 0, coolUntil = 0 } = health[name] ?? {};
    this.#health = undefined;
    this.sql.insert("OR REPLACE INTO model_health", { name, failures, cool_until: coolUntil });
  }

  modelAnswered(name: string): void {
    this.#health = undefined;
    this.sql.exec("DELETE FROM model_health WHERE name = ?", name);
  }
}

export const spendingOf = slot(({ ctx }) => new Spending(ctx.storage));
