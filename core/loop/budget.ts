/**
 * Limits on tokens and model calls: per turn, per conversation, and per day for the whole home. Pure.
 * The check runs before each model call. Its cost is not known yet, so only the last call may exceed the limit.
 */
import { ENGLISH, type Phrases } from "../phrases/phrases.ts";

export const BUDGET_SCOPES = ["turn", "conversation", "day"] as const;
type BudgetScope = (typeof BUDGET_SCOPES)[number];
const MEASURES = ["tokens", "modelCalls"] as const;
type Measure = (typeof MEASURES)[number];

/** `tokens` is the sum of input and output tokens, as the endpoint counts them. */
export type Spent = { tokens: number; modelCalls: number };
/** The amounts spent so far; `day` covers the whole home. */
export type Used = Record<BudgetScope, Spent>;
/** An absent field is unlimited; 0 allows nothing. */
export type BudgetLimits = Partial<Record<BudgetScope, Partial<Spent>>>;

/** Names a budget of which the person was notified. The keys are stored with the figures and deleted with them. */
export type BudgetKey = `${BudgetScope}.${Measure}`;

/** The used share of a budget at which the person is notified once. */
const NOTICE_AT = 0.8;
const DAY_MS = 86_400_000;

export type BudgetVerdict =
  | { state: "ok" }
  /** Continue, show the text to the person, and store the keys. */
  | { state: "notice"; text: string; keys: BudgetKey[] }
  /** Make no model call. `freeAt`: epoch ms; absent when waiting does not free the budget. */
  | { state: "refused"; text: string; keys: BudgetKey[]; freeAt?: number };

/** @param now epoch ms @param told the keys of earlier notices about these figures */
export function checkBudget(
  used: Used,
  limits: BudgetLimits,
  now: number,
  told: readonly BudgetKey[] = [],
  phrases: Phrases = ENGLISH,
): BudgetVerdict {
  const budgets = BUDGET_SCOPES.flatMap((scope) =>
    MEASURES.flatMap((measure) => {
      const limit = limits[scope]?.[measure];
      return limit === undefined ? [] : [{ scope, measure, used: used[scope][measure], limit }];
    }),
  );
  const spent = budgets.filter((budget) => budget.used >= budget.limit);
  if (spent.length > 0) {
    const said = spent.map((budget) => phrases.say("budgetSpent", figures(budget, phrases)));
    const text = phrases.sentences(...said, ...freeTexts(spent, now, phrases));
    const byTime = spent.every(({ scope }) => scope === "day");
    return { state: "refused", text, keys: spent.map(budgetKey), ...(byTime && { freeAt: dayEnd(now) }) };
  }
  const near = budgets.filter(
    (budget) => budget.used >= budget.limit * NOTICE_AT && !told.includes(budgetKey(budget)),
  );
  if (near.length === 0) return { state: "ok" };
  return {
    state: "notice",
    text: phrases.sentences(...near.map((one) => nearText(one, phrases))),
    keys: near.map(budgetKey),
  };
}

/** Returns the UTC day of a budget, such as `2026-11-21`. It is the same for every home and machine. */
export function budgetDay(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

type Budget = { scope: BudgetScope; measure: Measure; used: number; limit: number };

const WHOSE = { turn: "budgetTurn", conversation: "budgetConversation", day: "budgetDay" } as const;

function figures({ scope, measure, used, limit }: Budget, phrases: Phrases) {
  const unit = phrases.say(measure === "tokens" ? "unitTokens" : "unitCalls");
  return { scope: phrases.say(WHOSE[scope]), used: grouped(used), limit: grouped(limit), unit };
}

function nearText(budget: Budget, phrases: Phrases): string {
  const percent = phrases.figure(Math.floor((100 * budget.used) / budget.limit), "%");
  return phrases.say("budgetNear", { percent, ...figures(budget, phrases) });
}

/** Says when and how the conversation can continue, once for each scope. */
function freeTexts(spent: readonly Budget[], now: number, phrases: Phrases): string[] {
  const scopes = new Set(spent.map(({ scope }) => scope));
  const texts: string[] = [];
  if (scopes.has("day")) {
    const time = `${new Date(dayEnd(now)).toISOString().slice(0, 16).replace("T", " ")} UTC`;
    texts.push(phrases.say("freeDay", { time, span: hours(dayEnd(now) - now) }));
  }
  if (scopes.has("conversation")) texts.push(phrases.say("freeConversation"));
  if (scopes.has("turn")) texts.push(phrases.say("freeTurn"));
  return texts;
}

function budgetKey({ scope, measure }: Budget): BudgetKey {
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
