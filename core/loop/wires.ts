/** The wires by which models are asked, and which of them an address speaks. */
import { ReplyBuilder } from "./reply.ts";
import { type ModelSettings, requestBody } from "./request.ts";
import type { Wire } from "./wire.ts";

const OPENAI: Wire = {
  path: "/chat/completions",
  // Azure takes a key under a name of its own.
  headers: (apiKey, { hostname }) =>
    apiKey === ""
      ? {}
      : { authorization: `Bearer ${apiKey}`, ...(/\.azure\.com$/.test(hostname) && { "api-key": apiKey }) },
  body: requestBody,
  reader: (names) => new ReplyBuilder(names),
};

export function wireOf(_settings: Pick<ModelSettings, "api" | "baseUrl">): Wire {
  return OPENAI;
}
