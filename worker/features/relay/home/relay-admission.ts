/** Home's part of the relay: whether an agent's key is valid, and whether today's budget has anything left. */

import { checkBudget } from "@edgecall/core/loop/budget.ts";
import type { Usage } from "@edgecall/core/loop/history.ts";
import type { RelayToken } from "@edgecall/core/protocol/relay-token.ts";
import { keysOf } from "../../../kernel/home/agents/agent-keys.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { spendingOf } from "../../../kernel/home/usage/spending.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import { type Admission, relayUnsigned } from "../contract.ts";

const NOTHING = { tokens: 0, modelCalls: 0 };

/** Admits a call and reserves what it may take. @param reserve tokens */
export async function admitToRelay(
  home: HomeContext,
  token: RelayToken,
  reserve: number,
): Promise<Admission> {
  const spending = spendingOf(home);
  const { env } = home;
  const { budgets, countsDays, relay } = readSettings(env);
  const now = Date.now();
  const { agent } = token.claims;
  if (!(await keysOf(home).isRelayToken(token))) return relayUnsigned(agent);
  const { spent, told } = spending.today(now);
  const verdict = checkBudget({ turn: NOTHING, conversation: NOTHING, day: spent }, budgets, now, told);
  if (verdict.state === "refused") return quotaUsedUp(verdict.text);
  if (spending.relayed(agent, now) + reserve > relay.dayTokens) {
    const why = `'${agent}' has used up its ${relay.dayTokens} tokens of today (RELAY_DAY_TOKENS); they come back at 00:00 UTC`;
    return quotaUsedUp(why);
  }
  spending.addRelayed(agent, reserve, now);
  if (countsDays) spending.add(reserve, 1, now);
  return { ok: true };
}

/** Counts what an admitted call took, in place of what was reserved for it. */
export function countRelayed(
  home: HomeContext,
  { agent, reserved, model, usage }: { agent: string; reserved: number; model: string; usage: Usage },
): void {
  const { env } = home;
  const settings = readSettings(env);
  const now = Date.now();
  const difference = usage.input_tokens + usage.output_tokens - reserved;
  spendingOf(home).addRelayed(agent, difference, now);
  if (!settings.countsDays) return;
  const isPriced = Object.keys(settings.prices).length > 0;
  spendingOf(home).correct(difference, isPriced ? { model, usage } : undefined, now);
}

function quotaUsedUp(message: string): Admission {
  return { ok: false, status: 429, code: "insufficient_quota", message };
}
