/** A gateway's secrets: those of a first deploy, and those for a model. Pure except for random numbers. */
import { newToken, type Tokens, tokenRecords } from "../tokens.ts";
import type { Model } from "./options.ts";

/** Stored as secrets, because a deploy replaces variables but not secrets. */
export type Secrets = Record<string, string | null>;

/** Includes a token for clients, which can ask but not approve. */
export type GatewayTokens = Tokens & { client: string };

export function tokenSecrets(tokens: GatewayTokens, home: string): Secrets {
  return tokenRecords(tokens, { home, name: "owner" });
}

/**
 * Makes the key that encrypts the secrets of chat apps. A gateway without one also gets it, and still reads its existing
 * data. It is made only once, because another key could not decrypt what this one encrypted.
 */
export function connectionsKey(): Secrets {
  return { CONNECTIONS_KEY: newToken() };
}

/** @param present names of the existing secrets; those no longer needed are removed */
export function modelSecrets(model: Model, present: readonly string[]): Secrets {
  const wanted: Secrets =
    model.via === "workers-ai"
      ? { ...(model.model !== undefined && { LLM_MODEL: model.model }) }
      : {
          LLM_BASE_URL: model.baseUrl,
          ...(model.api && { LLM_API: model.api }),
          LLM_MODEL: model.model,
          ...(model.apiKey !== undefined && { LLM_API_KEY: model.apiKey }),
        };
  const gone = ["LLM_BASE_URL", "LLM_API", "LLM_MODEL", "LLM_API_KEY"].filter(
    (name) => present.includes(name) && !(name in wanted),
  );
  return { ...wanted, ...Object.fromEntries(gone.map((name) => [name, null])) };
}
