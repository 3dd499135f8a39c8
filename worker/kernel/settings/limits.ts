/** The variables and bindings of the limits; docs/reference/settings.md and docs/explain/security.md explain them. */
import type { Env } from "../env.ts";
import { readOnce } from "./read-once.ts";
import { readChoice } from "./read-variable.ts";
import { SettingsError } from "./settings-error.ts";

export type LimitVariables = Pick<
  Env,
  "RATE_LIMITS" | "RATE_ADDRESS" | "RATE_GUESSES" | "RATE_TOKENS" | "RATE_SENDERS" | "CORS_ORIGINS"
>;

export type RateName = "RATE_ADDRESS" | "RATE_GUESSES" | "RATE_TOKENS" | "RATE_SENDERS";

/** @throws SettingsError */
export const areRatesLimited = readOnce(
  (env: LimitVariables): boolean => readChoice(env, "RATE_LIMITS") === "on",
);

/** @throws SettingsError for a value that is no origin, so that a typing error does not admit other pages */
export const corsOrigins = readOnce(({ CORS_ORIGINS: text = "" }: LimitVariables): ReadonlySet<string> => {
  const origins = text.split(",").flatMap((one) => one.trim() || []);
  for (const origin of origins)
    if (!/^https?:\/\//.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new SettingsError(
        "CORS_ORIGINS: expected origins like https://chat.example.org, separated by commas; '*' is none",
      );
  return new Set(origins);
});
