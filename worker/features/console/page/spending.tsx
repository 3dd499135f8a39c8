/** Model usage: today against the budget, and the two weeks before, in tokens and, if prices are set, in money. */

import type { DayView, UsageView } from "@edgecall/client/routes.ts";
import { counted } from "@edgecall/core/text/counted.ts";
import { BarChart } from "./bar-chart.tsx";
import { Panel } from "./controls.tsx";
import { costOfDay, money, unpricedModels } from "./figures.ts";

const ENDS = ["13 days ago", "a week ago", "today"] as const;

export function Spending({ usage }: { usage: UsageView }) {
  const { counted: isCounted, priced, days, budgets, models, turns, turns_without_model } = usage;
  const today = days.at(-1);
  const limits = budgets.day ?? {};
  const unpriced = priced ? unpricedModels(days) : [];
  return (
    <Panel id="spending" title="Models">
      {isCounted && today ? (
        <>
          <Meter name="Tokens today" used={today.tokens} limit={limits.tokens} />
          <Meter name="Calls today" used={today.model_calls} limit={limits.model_calls} />
          {priced && (
            <div class="meter">
              <span>Money today</span>
              <span class="quiet">{money(costOfDay(today))}</span>
            </div>
          )}
          <div class="days">
            <Days
              title="Tokens a day"
              days={days}
              of={({ tokens }) => tokens}
              say={(value) => value.toLocaleString()}
              limit={limits.tokens}
            />
            {priced && <Days title="Money a day" days={days} of={costOfDay} say={money} />}
          </div>
          {unpriced.length > 0 && (
            <p class="notice">Without a price in PRICES, and not in these sums: {unpriced.join(", ")}.</p>
          )}
          {!priced && (
            <p class="quiet">
              For money, set PRICES to what your models cost: <code>{PRICES_EXAMPLE}</code>, in USD per
              million tokens.
            </p>
          )}
        </>
      ) : (
        <p class="quiet">
          Tokens are counted from when a limit is set, BUDGET_DAY_TOKENS or BUDGET_DAY_MODEL_CALLS, or PRICES
          for money: <code>{PRICES_EXAMPLE}</code>, in USD per million tokens.
        </p>
      )}
      {turns > 0 && (
        <p class="quiet">
          {turns_without_model.toLocaleString()} of {counted(turns, "question")} answered without a model.
        </p>
      )}
      <p class="quiet">
        {models.length === 0
          ? "No model is configured: set LLM_BASE_URL and LLM_MODEL."
          : models
              .map(({ name, failures }) =>
                failures > 0 ? `${name}: failed ${counted(failures, "time")} of late` : `${name}: answers`,
              )
              .join(" · ")}
      </p>
    </Panel>
  );
}

const PRICES_EXAMPLE = `{"gpt-5-mini":{"in":0.25,"out":2}}`;

type DaysProps = {
  title: string;
  days: readonly DayView[];
  of: (day: DayView) => number;
  say: (value: number) => string;
  limit?: number | undefined;
};

function Days({ title, days, of, say, limit }: DaysProps) {
  const sum = days.reduce((all, day) => all + of(day), 0);
  const most = Math.max(...days.map(of));
  const words = [
    `${say(sum)} in ${counted(days.length, "day")}, at most ${say(most)} in one.`,
    limit === undefined ? "" : `Dashed: the budget, ${say(limit)} a day.`,
  ].join(" ");
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <BarChart
        bars={days.map((day) => ({ key: day.day, parts: [{ class: "ok", value: of(day) }] }))}
        label={`${title}: ${words}`}
        ends={ENDS}
        limit={limit}
      />
      <p class="legend">{words}</p>
    </section>
  );
}

function Meter({ name, used, limit }: { name: string; used: number; limit: number | undefined }) {
  const words =
    limit === undefined
      ? `${used.toLocaleString()}, not limited`
      : `${used.toLocaleString()} of ${limit.toLocaleString()}`;
  return (
    <div class="meter">
      <span>{name}</span>
      {limit !== undefined && (
        <meter aria-label={name} value={used} max={limit || 1} high={limit * 0.8} optimum={0} />
      )}
      <span class="quiet">{words}</span>
    </div>
  );
}
