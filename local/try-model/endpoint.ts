/** The model that is tried, as the environment names it. */
import { readApi } from "@edgecall/core/loop/api.ts";
import type { ModelSettings } from "@edgecall/core/loop/request.ts";
import type { Environment } from "../settings.ts";

/** Enough for a reasoning model's thoughts about a small question. */
const MAX_TOKENS = 4_096;

export function endpointOf(
  { baseUrl, name }: { baseUrl: string; name: string },
  env: Environment,
): ModelSettings {
  const api = readApi(env.LLM_API ?? "");
  return {
    baseUrl,
    model: name,
    apiKey: env.LLM_API_KEY ?? "",
    maxTokens: Number(env.MAX_TOKENS) || MAX_TOKENS,
    ...(env.TEMPERATURE && { temperature: Number(env.TEMPERATURE) }),
    ...(api && { api }),
  };
}
