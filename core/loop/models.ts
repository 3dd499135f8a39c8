/**
 * Models by name, with fall-back: one that failed three times in a row cools down, and the next one answers.
 * Pure: the record of what failed is the caller's to keep, in rows or in memory.
 */
import type { ModelSettings } from "./model.ts";
import type { ModelError } from "./retry.ts";

export type NamedModel = ModelSettings & { name: string };

/** By name. A model that is not in it is well. */
export type ModelHealth = Readonly<Record<string, { failures: number; coolUntil: number }>>;

/** Fewer may be chance. */
export const FAILURES_TO_COOL = 3;
/** Most outages of a provider are over by then. After it one call is tried: a failure cools it down anew. */
export const COOL_DOWN_MS = 5 * 60_000;

export type Picked =
  | {
      ok: true;
      model: NamedModel;
      /** The wanted model (or the first one) is cooling down, and this one stands in for it. */
      instead: boolean;
    }
  | { ok: false; error: string };

/**
 * The model to call now: the wanted one, else the first that is not cooling down, in the order of the list;
 * when all are, the one that recovers first, since trying is better than refusing.
 *
 * @param wanted a name; when absent, the first of the list
 * @param replaceable another one may stand in for the wanted one
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

/** Whether an error says something of the model: a cancel does not, nor does a request that it refuses. */
export function isModelFailure(error: ModelError): boolean {
  if (error.kind === "cancelled") return false;
  // 400 and 413: too long, or in a form that it does not take; another request fares better.
  return error.status !== 400 && error.status !== 413;
}

/** After a failed call, each attempt for itself. */
export function noteFailure(health: ModelHealth, name: string, now: number): ModelHealth {
  const failures = (health[name]?.failures ?? 0) + 1;
  const cools = failures >= FAILURES_TO_COOL;
  return { ...health, [name]: { failures, coolUntil: cools ? now + COOL_DOWN_MS : 0 } };
}

function coolUntil(health: ModelHealth, name: string): number {
  return health[name]?.coolUntil ?? 0;
}
