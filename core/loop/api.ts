/** The forms in which models are asked (wires.ts), and which of them a setting or an address means. Pure. */

export const APIS = ["openai", "anthropic"] as const;
/** `openai`: chat completions; `anthropic`: the Messages API. */
export type Api = (typeof APIS)[number];

type Endpoint = { api?: Api; baseUrl: string };

/** The settings' form, or the one that the address is known for. */
export function apiOf({ api, baseUrl }: Endpoint): Api {
  if (api) return api;
  return /^https:\/\/api\.anthropic\.com(?=[:/?]|$)/i.test(baseUrl.trim()) ? "anthropic" : "openai";
}

/** @returns undefined: it is none of them */
export function readApi(text: string): Api | undefined {
  return APIS.find((api) => api === text);
}

/**
 * The tools are sent where none of them may be called too: the provider's cache begins with them, so nothing in them may change with
 * time or roster either.
 */
export function keepsTools(endpoint: Endpoint): boolean {
  return apiOf(endpoint) === "anthropic";
}

/** Newer models of Anthropic refuse any temperature, so it is sent there only where a person set it. */
export function usualTemperature(endpoint: Endpoint): number | undefined {
  return apiOf(endpoint) === "openai" ? 0.7 : undefined;
}
