/** The wires by which models are asked, and which of them an address speaks. */

import { MESSAGES } from "./anthropic/wire.ts";
import { apiOf } from "./api.ts";
import { ReplyBuilder } from "./reply.ts";
import { type ModelSettings, requestBody } from "./request.ts";
import type { Wire } from "./wire.ts";

const OPENAI: Wire = {
  path: (base) => `${base}/chat/completions`,
  // Azure takes a key under a name of its own.
  headers: (apiKey, { hostname }) =>
    apiKey === ""
      ? {}
      : { authorization: `Bearer ${apiKey}`, ...(/\.azure\.com$/.test(hostname) && { "api-key": apiKey }) },
  body: requestBody,
  reader: (names) => new ReplyBuilder(names),
};

export function wireOf(settings: Pick<ModelSettings, "api" | "baseUrl">): Wire {
  return apiOf(settings) === "anthropic" ? MESSAGES : OPENAI;
}

/** How an endpoint is asked for the names of its models. @param settings with an address that is one */
export function modelsRequest(
  settings: Pick<ModelSettings, "api" | "baseUrl">,
  apiKey: string,
): { url: string; headers: Record<string, string> } {
  const wire = wireOf(settings);
  const url = new URL(settings.baseUrl);
  url.pathname = wire
    .path(url.pathname.replace(/\/+$/, ""))
    .replace(/\/(?:chat\/completions|messages)$/, "/models");
  return { url: url.href, headers: wire.headers(apiKey, url) };
}
