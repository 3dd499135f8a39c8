/** `PRICES`: the prices of models in USD per million tokens. There are no defaults, because prices change and differ by contract. */
import { checkJson, type Parsed, z } from "@edgecall/core/protocol/parse.ts";

const usd = z.number().check(z.minimum(0), z.maximum(1_000_000));

const Prices = z.record(z.string(), z.strictObject({ in: usd, out: usd }));

/** Prices by the model's name in LLM_MODEL or LLM_MODELS. */
export type Prices = z.infer<typeof Prices>;

export function readPrices(text: string | undefined): Parsed<Prices> {
  if (text === undefined || text.trim() === "") return { ok: true, value: {} };
  const read = checkJson(Prices, text);
  return read.ok
    ? read
    : { ok: false, error: `PRICES: expected {"model":{"in":USD,"out":USD}}; ${read.error}` };
}
