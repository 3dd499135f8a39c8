/** Variables of the relay, which limit how much devices may use the gateway's model. */
import type { Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";

export type RelaySettings = {
  /** Tokens of one agent in a day of UTC, questions and answers together. 0: the relay is closed. */
  dayTokens: number;
  /** Tokens of one answer. */
  maxTokens: number;
};

/** About a hundred questions: enough for people who ask a device, and a small loss if a device runs wild. */
const DAY_TOKENS = 200_000;
const MAX_TOKENS = 4_096;

export function readRelaySettings(env: Variables): Parsed<RelaySettings> {
  const dayTokens = whole(env.RELAY_DAY_TOKENS, DAY_TOKENS, 0);
  if (dayTokens === undefined)
    return {
      ok: false,
      error: `RELAY_DAY_TOKENS: expected a whole number from 0, got '${env.RELAY_DAY_TOKENS}'`,
    };
  const maxTokens = whole(env.RELAY_MAX_TOKENS, MAX_TOKENS, 1);
  if (maxTokens === undefined)
    return {
      ok: false,
      error: `RELAY_MAX_TOKENS: expected a whole number from 1, got '${env.RELAY_MAX_TOKENS}'`,
    };
  return { ok: true, value: { dayTokens, maxTokens } };
}

function whole(text: string | undefined, fallback: number, min: number): number | undefined {
  if (text === undefined || text.trim() === "") return fallback;
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= min ? value : undefined;
}
