/**
 * What may be spent on models: tokens and model calls, per turn, per conversation, and per day and home. Pure.
 * Asked before each model call, whose cost nobody knows yet: the last call may go beyond the limit, no other.
 */

export const BUDGET_SCOPES = ["turn", "conversation", "day"] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];
const MEASURES = ["tokens", "modelCalls"] as const;
type Measure = (typeof MEASURES)[number];

/** Tokens in and out together, by the endpoint's count. */
export type Spent = { tokens: number; modelCalls: number };
/** What was spent so far; `day` is that of the whole home. */
export type Used = Record<BudgetScope, Spent>;
/** What is not there is not limited; 0 allows nothing. */
export type BudgetLimits = Partial<Record<BudgetScope, Partial<Spent>>>;

/** Names a budget among what a person was told of: kept beside the figures, and gone with them. */
export type BudgetKey = `${BudgetScope}.${Measure}`;

/** A person is told once when so much of a budget is used. */
const NOTICE_AT = 0.8;
const DAY_MS = 86_400_000;

export type BudgetVerdict =
  | { state: "ok" }
  /** Go on, tell the person, and remember the keys. */
  | { state: "notice"; text: string; keys: BudgetKey[] }
  /** No model call. `freeAt`: epoch ms; absent when time alone does not free it. */
  | { state: "refused"; text: string; keys: BudgetKey[]; freeAt?: number };

/**
 * @param now epoch ms
 * @param told the keys of earlier notices on these figures
 */
export function checkBudget(
  used: Used,
  limits: BudgetLimits,
  now: number,
  told: readonly BudgetKey[] = [],
): BudgetVerdict {
  const budgets = BUDGET_SCOPES.flatMap((scope) =>
    MEASURES.flatMap((measure) => {
      const limit = limits[scope]?.[measure];
      return limit === undefined ? [] : [{ scope, measure, used: used[scope][measure], limit }];
    }),
  );
  const spent = budgets.filter((budget) => budget.used >= budget.limit);
  if (spent.length > 0) {
    const text = [...spent.map(spentText), ...freeTexts(spent, now)].join(" ");
    const byTime = spent.every(({ scope }) => scope === "day");
    return { state: "refused", text, keys: spent.map(keyOf), ...(byTime && { freeAt: dayEnd(now) }) };
  }
  const near = budgets.filter(
    (budget) => budget.used >= budget.limit * NOTICE_AT && !told.includes(keyOf(budget)),
  );
  if (near.length === 0) return { state: "ok" };
  return { state: "notice", text: near.map(nearText).join(" "), keys: near.map(keyOf) };
}

/** The day of a budget, `2026-11-21`: a UTC day, the same for every home and on every machine. */
export function budgetDay(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

type Budget = { scope: BudgetScope; measure: Measure; used: number; limit: number };

const WHOSE: Record<BudgetScope, string> = {
  turn: "for one question",
  conversation: "of this conversation",
  day: "of this home for today",
};

function spentText(budget: Budget): string {
  return `The budget ${WHOSE[budget.scope]} is used up: ${figures(budget)}.`;
}

function nearText(budget: Budget): string {
  const part = Math.floor((100 * budget.used) / budget.limit);
  return `${part} % of the budget ${WHOSE[budget.scope]} is used: ${figures(budget)}.`;
}

function figures({ measure, used, limit }: Budget): string {
  return `${grouped(used)} of ${grouped(limit)} ${measure === "tokens" ? "tokens" : "model calls"}`;
}

/** When and how it goes on; for each scope once. */
function freeTexts(spent: readonly Budget[], now: number): string[] {
  const scopes = new Set(spent.map(({ scope }) => scope));
  const texts: string[] = [];
  if (scopes.has("day")) {
    const free = new Date(dayEnd(now)).toISOString().slice(0, 16).replace("T", " ");
    texts.push(`The one for today is free again at ${free} UTC, in ${hours(dayEnd(now) - now)}.`);
  }
  if (scopes.has("conversation")) texts.push("A new conversation starts with a fresh one.");
  if (scopes.has("turn")) texts.push("Each question starts with a fresh one: ask for a smaller part.");
  return texts;
}

function keyOf({ scope, measure }: Budget): BudgetKey {
  return `${scope}.${measure}`;
}

function dayEnd(now: number): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS;
}

function hours(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** 12345678 → `12 345 678`. */
function grouped(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, " ");
}
