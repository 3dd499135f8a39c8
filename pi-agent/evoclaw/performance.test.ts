import { expect, test } from "vitest";
import { ToolMetrics } from "../calls/tool-metrics.ts";
import { judge } from "./performance.ts";
import { MAX_TRADES, Trades } from "./trades.ts";

function trades(...profits: number[]): Trades {
  const made = new Trades();
  for (const pnl of profits)
    made.record({ asset: "BTC", entry_price: 50_000, exit_price: 50_000 + pnl, size: 1 });
  return made;
}

test("without calls nothing is known", () => {
  expect(judge({}, [])).toEqual({
    performance: {
      win_rate: 0,
      total_pnl: 0,
      sharpe_ratio: 0,
      max_drawdown: 0,
      total_trades: 0,
      avg_profit_per_trade: 0,
    },
    fitness: 0,
    basis: "tools",
  });
});

test("from the tools' calls: successes, time-outs and speed", () => {
  const tools = new ToolMetrics();
  for (let n = 0; n < 6; n += 1) tools.count("cpu", 0);
  tools.count("bash", 20_000, { text: "slow", errorType: "timeout" });
  tools.count("bash", 20_000, { text: "bad", errorType: "execution_failed" });
  const { performance, fitness, basis } = judge(tools.read(), []);
  expect(performance).toMatchObject({ win_rate: 75, total_trades: 8, total_pnl: 0 });
  expect(basis).toBe("tools");
  // 70 × 6/8, 20 × 7/8, and 10 × 1/2 for an average of 5 s.
  expect(fitness).toBeCloseTo(52.5 + 17.5 + 5);
});

test("from trades: EvoClaw's figures, with its own examples", () => {
  const { performance, basis } = judge({}, trades(100, -30, 50).list());
  expect(basis).toBe("trades");
  expect(performance).toMatchObject({ total_trades: 3, total_pnl: 120, avg_profit_per_trade: 40 });
  expect(performance.win_rate).toBeCloseTo(66.67, 1);
  expect(judge({}, trades(100, 50, -30).list()).performance.max_drawdown).toBe(30);
  expect(judge({}, trades(100, -50, 100).list()).performance.max_drawdown).toBe(50);
  expect(judge({}, trades(100).list()).performance.sharpe_ratio).toBe(0);
  expect(judge({}, trades(...Array(10).fill(100)).list())).toMatchObject({
    performance: { sharpe_ratio: 0 },
    // 30 for winning always, 20 × 1000/10000, 10 for no drawdown.
    fitness: 42,
  });
  expect(judge({}, trades(...Array(10).fill(-1_000)).list()).fitness).toBe(0);
  // Returns of 50 % and −60 %: mean −5, deviation √6050.
  expect(judge({}, trades(100, 50, -30).list()).performance.sharpe_ratio).toBeCloseTo(-5 / Math.sqrt(6_050));
});

test("the oldest trades are dropped", () => {
  const many = trades(...Array.from({ length: MAX_TRADES + 5 }, (_, n) => n));
  expect(many.list()).toHaveLength(MAX_TRADES);
  expect(many.list()[0]?.pnl).toBe(5);
});
