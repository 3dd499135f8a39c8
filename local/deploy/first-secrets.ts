/** The secrets of a gateway: what a first deploy sets, and how a model is told to it. Pure but for the dice. */
import { newToken, type Tokens, tokenRecords } from "../tokens.ts";
import type { Model } from "./options.ts";

/** Kept as secrets and not as variables: a deploy replaces variables, and leaves secrets as they are. */
export type Secrets = Record<string, string | null>;

/** With one for clients, which ask and can approve nothing. */
export type GatewayTokens = Tokens & { client: string };

export function tokenSecrets(tokens: GatewayTokens, home: string): Secrets {
  return tokenRecords(tokens, { home, name: "owner" });
}

/**
 * Chat apps' own secrets are encrypted with it: made where there is none, also for a gateway that did without (what lies
 * there is read as before), and once, since another key could not read what this one encrypted.
 */
export function connectionsKey(): Secrets {
  return { CONNECTIONS_KEY: newToken() };
}

/** @param present names of the secrets that are there: what is not needed any more is removed */
export function modelSecrets(model: Model, present: readonly string[]): Secrets {
  const wanted: Secrets =
    model.via === "workers-ai"
      ? { ...(model.model !== undefined && { LLM_MODEL: model.model }) }
      : {
          LLM_BASE_URL: model.baseUrl,
          LLM_MODEL: model.model,
          ...(model.apiKey !== undefined && { LLM_API_KEY: model.apiKey }),
        };
  const gone = ["LLM_BASE_URL", "LLM_MODEL", "LLM_API_KEY"].filter(
    (name) => present.includes(name) && !(name in wanted),
  );
  return { ...wanted, ...Object.fromEntries(gone.map((name) => [name, null])) };
}
