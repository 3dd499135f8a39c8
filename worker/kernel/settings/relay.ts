/** Variables of the relay, which limit how much devices may use the gateway's model. */
import type { Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import { checkNumber } from "./read-variable.ts";

export type RelaySettings = {
  /** Tokens of one agent in a day of UTC, questions and answers together. 0: the relay is closed. */
  dayTokens: number;
  /** Tokens of one answer. */
  maxTokens: number;
};

export function readRelaySettings(env: Variables): Parsed<RelaySettings> {
  const dayTokens = checkNumber(env, "RELAY_DAY_TOKENS");
  if (!dayTokens.ok) return dayTokens;
  const maxTokens = checkNumber(env, "RELAY_MAX_TOKENS");
  if (!maxTokens.ok) return maxTokens;
  return { ok: true, value: { dayTokens: dayTokens.value, maxTokens: maxTokens.value } };
}
