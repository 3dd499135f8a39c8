/**
 * Chooses a model by name, with fall-back: a model that failed three times in a row cools down, and the next one answers.
 * Pure: the caller stores the record of failures, in rows or in memory.
 */

import type { ModelSettings } from "./request.ts";
import type { ModelError } from "./retry.ts";

export type NamedModel = ModelSettings & { name: string };

/** Failures by the model's name. A model without an entry is healthy. */
export type ModelHealth = Readonly<Record<string, { failures: number; coolUntil: number }>>;

/** Fewer failures in a row may be chance. */
export const FAILURES_TO_COOL = 3;
/** Most outages of a provider are shorter. After it one call is tried; if that fails, the model cools down again. */
export const COOL_DOWN_MS = 5 * 60_000;

export type Picked =
  | {
      ok: true;
      model: NamedModel;
      /** The wanted (or first) model is cooling down, and this one replaces it. */
      instead: boolean;
    }
  | { ok: false; error: string };

/**
 * Picks the model to call now: the wanted one, or the first in the list that is not cooling down. When all are cooling
 * down it picks the one that recovers first, since trying is better than refusing.
 * @param wanted a name; absent = the first of the list
 * @param replaceable another model may replace the wanted one
 * @param now epoch ms, as is `coolUntil`
 */
export function pickModel(
  models: readonly NamedModel[],
  health: ModelHealth,
  wanted: string | undefined,
  now: number,
  replaceable = true,
): Picked {
  const preferred = wanted === undefined ? models[0] : models.find(({ name }) => name === wanted);
  if (!preferred) {
    const names = models.map(({ name }) => name).join(", ");
    if (names === "") return { ok: false, error: "No model is configured." };
    return { ok: false, error: `There is no model '${wanted}'. Models: ${names}.` };
  }
  if (wanted !== undefined && !replaceable) return { ok: true, model: preferred, instead: false };
  const inOrder = [preferred, ...models.filter((model) => model !== preferred)];
  const usable = inOrder.find(({ name }) => coolUntil(health, name) <= now);
  const model =
    usable ??
    inOrder.reduce((a, b) => (coolUntil(health, b.name) < coolUntil(health, a.name) ? b : a), preferred);
  return { ok: true, model, instead: model !== preferred };
}

/** Whether an error is the model's failure; a cancel and a refused request are not. */
export function isModelFailure(error: ModelError): boolean {
  if (error.kind === "cancelled") return false;
  // 400 and 413 concern this request alone: it is too long, or has a form that the model does not accept.
  return error.status !== 400 && error.status !== 413;
}

/** Records a failed attempt; each attempt of a call counts. */
export function noteFailure(health: ModelHealth, name: string, now: number): ModelHealth {
  const failures = (health[name]?.failures ?? 0) + 1;
  const cools = failures >= FAILURES_TO_COOL;
  return { ...health, [name]: { failures, coolUntil: cools ? now + COOL_DOWN_MS : 0 } };
}

function coolUntil(health: ModelHealth, name: string): number {
  return health[name]?.coolUntil ?? 0;
}
