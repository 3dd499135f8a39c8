/** Computes EvoClaw's performance figures of this agent, from its trades if there are any, otherwise from its tool calls. */
import type { ToolFigures } from "../calls/tool-metrics.ts";
import { clamp, fitnessOfTrades, type Performance, performanceOfTrades, type Trade } from "./trades.ts";

export type Judged = {
  performance: Performance;
  /** 0 to 100 */
  fitness: number;
  /** The basis of the figures. */
  basis: "trades" | "tools";
};

/** An average time per call, in ms, that gets no points for speed. */
const SLOW_MS = 10_000;

export function judge(tools: Readonly<Record<string, ToolFigures>>, trades: readonly Trade[]): Judged {
  if (trades.length > 0) {
    const performance = performanceOfTrades(trades);
    return { performance, fitness: fitnessOfTrades(performance), basis: "trades" };
  }
  const total = totalOf(Object.values(tools));
  return {
    performance: {
      win_rate: shareOf(total.success, total.calls) * 100,
      total_pnl: 0,
      sharpe_ratio: 0,
      max_drawdown: 0,
      total_trades: total.calls,
      avg_profit_per_trade: 0,
    },
    fitness: fitnessOfCalls(total),
    basis: "tools",
  };
}

type Total = { calls: number; success: number; timeout: number; ms: number };

/** Up to 70 points for successful calls, 20 for few time-outs, 10 for speed; 0 without any calls. */
function fitnessOfCalls({ calls, success, timeout, ms }: Total): number {
  if (calls === 0) return 0;
  const slowness = clamp(ms / calls / SLOW_MS);
  return shareOf(success, calls) * 70 + (1 - shareOf(timeout, calls)) * 20 + (1 - slowness) * 10;
}

function totalOf(figures: readonly ToolFigures[]): Total {
  const total = { calls: 0, success: 0, timeout: 0, ms: 0 };
  for (const { calls, success, timeout, avg_latency_ms } of figures) {
    total.calls += calls;
    total.success += success;
    total.timeout += timeout;
    total.ms += avg_latency_ms * calls;
  }
  return total;
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
