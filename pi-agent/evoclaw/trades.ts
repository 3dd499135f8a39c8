/** The trades that EvoClaw's evolution engine records with an agent, and its figures by the same formulas. */

export type Trade = {
  /** Seconds since 1970. */
  timestamp: number;
  asset: string;
  entry_price: number;
  exit_price: number;
  size: number;
  pnl: number;
};

export type Performance = {
  /** 0 to 100 */
  win_rate: number;
  total_pnl: number;
  sharpe_ratio: number;
  max_drawdown: number;
  total_trades: number;
  avg_profit_per_trade: number;
};

/** EvoClaw's number; the oldest are dropped. */
export const MAX_TRADES = 1_000;

/** Stored only in memory, as in EvoClaw; a restart clears them. */
export class Trades {
  #trades: Trade[] = [];

  /** @returns the trade with its profit */
  record(trade: Omit<Trade, "timestamp" | "pnl">): Trade {
    const pnl = (trade.exit_price - trade.entry_price) * trade.size;
    const recorded = { timestamp: Math.floor(Date.now() / 1_000), ...trade, pnl };
    this.#trades = [...this.#trades, recorded].slice(-MAX_TRADES);
    return recorded;
  }

  list(): readonly Trade[] {
    return this.#trades;
  }

  reset(): void {
    this.#trades = [];
  }
}

export function performanceOfTrades(trades: readonly Trade[]): Performance {
  const profits = trades.map(({ pnl }) => pnl);
  const total = sum(profits);
  const count = profits.length;
  return {
    win_rate: count === 0 ? 0 : (profits.filter((pnl) => pnl > 0).length / count) * 100,
    total_pnl: total,
    sharpe_ratio: sharpeRatio(profits),
    max_drawdown: maxDrawdown(profits),
    total_trades: count,
    avg_profit_per_trade: count === 0 ? 0 : total / count,
  };
}

/** 0 to 100: 40 for the Sharpe ratio, 30 for the win rate, 20 for the profit, 10 for a small drawdown. */
export function fitnessOfTrades({ sharpe_ratio, win_rate, total_pnl, max_drawdown }: Performance): number {
  return (
    clamp(sharpe_ratio / 3) * 40 +
    clamp(win_rate / 100) * 30 +
    clamp(total_pnl / 10_000) * 20 +
    (1 - clamp(max_drawdown / 5_000)) * 10
  );
}

/** Computed from each profit in per cent of the one before it, at least 1. */
function sharpeRatio(profits: readonly number[]): number {
  const returns = profits
    .slice(1)
    .map((pnl, index) => (pnl / Math.max(Math.abs(profits[index] ?? 0), 1)) * 100);
  if (returns.length < 2) return 0;
  const mean = sum(returns) / returns.length;
  const variance = sum(returns.map((one) => (one - mean) ** 2)) / (returns.length - 1);
  return variance === 0 ? 0 : mean / Math.sqrt(variance);
}

function maxDrawdown(profits: readonly number[]): number {
  let [equity, peak, deepest] = [0, 0, 0];
  for (const pnl of profits) {
    equity += pnl;
    peak = Math.max(peak, equity);
    deepest = Math.max(deepest, peak - equity);
  }
  return deepest;
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, one) => total + one, 0);
}

export function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}
