/** Home's part of the relay: whether an agent's key holds, and whether there is anything left of the day. */
import { checkBudget } from "@edgecall/core/loop/budget.ts";
import type { Usage } from "@edgecall/core/loop/history.ts";
import type { RelayToken } from "@edgecall/core/protocol/relay-token.ts";
import type { Admission } from "../../api/usage.ts";
import type { RelaySettings } from "../../settings/relay.ts";
import { countsDays, type Settings } from "../../settings/settings.ts";
import type { AgentKeys } from "../agents/agent-keys.ts";
import type { Spending } from "./spending.ts";

export type RelayDesk = { keys: AgentKeys; spending: Spending };

const NOTHING = { tokens: 0, modelCalls: 0 };

/**
 * Lets a call in and reserves what it may take.
 * @param reserve tokens @param now epoch ms
 */
export async function admitToRelay(
  { keys, spending }: RelayDesk,
  token: RelayToken,
  reserve: number,
  { budgets, prices, relay }: Pick<Settings, "budgets" | "prices"> & { relay: RelaySettings },
  now: number,
): Promise<Admission> {
  const { agent } = token.claims;
  if (!(await keys.isRelayToken(token))) return unsigned(agent);
  const { spent, told } = spending.today(now);
  const verdict = checkBudget({ turn: NOTHING, conversation: NOTHING, day: spent }, budgets, now, told);
  if (verdict.state === "refused") return refused(429, "insufficient_quota", verdict.text);
  if (spending.relayed(agent, now) + reserve > relay.dayTokens) {
    const why = `'${agent}' has used up its ${relay.dayTokens} tokens of today (RELAY_DAY_TOKENS); they come back at 00:00 UTC`;
    return refused(429, "insufficient_quota", why);
  }
  spending.addRelayed(agent, reserve, now);
  if (countsDays({ budgets, prices })) spending.add(reserve, 1, now);
  return { ok: true };
}

/** What a call that was let in took, in place of what was reserved for it. @param now epoch ms */
export function countRelayed(
  spending: Spending,
  call: { agent: string; reserved: number; model: string; usage: Usage },
  settings: Pick<Settings, "budgets" | "prices">,
  now: number,
): void {
  const { agent, reserved, model, usage } = call;
  const difference = usage.input_tokens + usage.output_tokens - reserved;
  spending.addRelayed(agent, difference, now);
  if (!countsDays(settings)) return;
  const isPriced = Object.keys(settings.prices).length > 0;
  spending.correct(difference, isPriced ? { model, usage } : undefined, now);
}

/** The same for a home that there is not. */
export function unsigned(agent: string): Admission & { ok: false } {
  return refused(401, "unauthorized", `the token is not signed with the key on record for '${agent}'`);
}

function refused(status: 401 | 429, code: string, message: string): Admission & { ok: false } {
  return { ok: false, status, code, message };
}
