/** EvoClaw's strategies: names and parameters that its orchestrator sets. They are stored and reported, never traded with. */
import type { Parsed } from "@edgecall/core/protocol/parse.ts";

export type Params = Record<string, unknown>;

type Known = {
  name: string;
  /** Parameters and their values when it is added. */
  defaults: Readonly<Record<string, number>>;
  /** Parameters that can only be set later. */
  more: readonly string[];
};

const KNOWN: Readonly<Record<string, Known>> = {
  add_funding_arbitrage: {
    name: "FundingArbitrage",
    defaults: { funding_threshold: -0.1, exit_funding: 0, position_size_usd: 1_000 },
    more: ["max_positions"],
  },
  add_mean_reversion: {
    name: "MeanReversion",
    defaults: { support_level: 2, resistance_level: 2, position_size_usd: 1_000 },
    more: ["lookback_periods"],
  },
};

/** @returns undefined when the action adds no strategy */
export function strategyAddedBy(action: string): Known | undefined {
  return Object.hasOwn(KNOWN, action) ? KNOWN[action] : undefined;
}

/** Reads the parameters of a payload, with EvoClaw's defaults for missing ones. */
export function addedParams({ defaults }: Known, payload: Params): Parsed<Params> {
  const given = Object.fromEntries(Object.keys(defaults).map((key) => [key, payload[key] ?? defaults[key]]));
  return checkParams(given, Object.keys(defaults));
}

/** @returns the changed parameters, or an error that names each wrong field and its valid values */
export function changedParams(name: string, now: Params, changes: unknown): Parsed<Params> {
  if (typeof changes !== "object" || changes === null || Array.isArray(changes)) {
    return { ok: false, error: "missing params: right would be an object of names and numbers" };
  }
  const checked = checkParams(changes as Params, paramsOf(name));
  return checked.ok ? { ok: true, value: { ...now, ...checked.value } } : checked;
}

/** Returns the parameters of a genome's skill that belong to this strategy, as EvoClaw does. */
export function paramsFor(name: string, params: Params): Params {
  return Object.fromEntries(Object.entries(params).filter(([key]) => paramsOf(name).includes(key)));
}

function paramsOf(name: string): string[] {
  const known = Object.values(KNOWN).find((one) => one.name === name);
  return known ? [...Object.keys(known.defaults), ...known.more] : [];
}

function checkParams(params: Params, known: readonly string[]): Parsed<Params> {
  const problems = Object.entries(params).flatMap(([key, value]) => {
    if (!known.includes(key)) return `params.${key.slice(0, 100)}: unknown; known: ${known.join(", ")}`;
    return Number.isFinite(value) ? [] : `params.${key}: wrong; right would be: a number`;
  });
  return problems.length > 0 ? { ok: false, error: problems.join("; ") } : { ok: true, value: params };
}
