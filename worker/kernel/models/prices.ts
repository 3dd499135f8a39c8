/** Calculates the price of an answer's tokens. */
import type { Usage } from "@edgecall/core/loop/history.ts";
import type { Prices } from "../settings/prices.ts";

const PER = 1_000_000;

/** @returns USD; undefined when the model has no price */
export function costOf(prices: Prices, model: string, usage: Usage): number | undefined {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
  return price && (usage.input_tokens * price.in + usage.output_tokens * price.out) / PER;
}
