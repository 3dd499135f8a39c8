/** Anthropic's Messages API as one of the forms in which models are asked (https://platform.claude.com/docs/en/api/messages). */
import type { Wire } from "../wire.ts";
import { MessageReader } from "./reply.ts";
import { messagesBody } from "./request.ts";

/** https://platform.claude.com/docs/en/api/versioning */
const VERSION = "2023-06-01";

export const MESSAGES: Wire = {
  // An address is written with /v1, as for OpenAI's clients, or without, as for Anthropic's.
  path: (base) => `${/\/v\d+$/.test(base) ? base : `${base}/v1`}/messages`,
  headers: (apiKey) => ({ "anthropic-version": VERSION, ...(apiKey && { "x-api-key": apiKey }) }),
  body: messagesBody,
  reader: (names) => new MessageReader(names),
};
