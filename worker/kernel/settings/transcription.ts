/** The model that transcribes voice messages. Off by default. */
import type { Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import { readOnce } from "./read-once.ts";
import { IS_WORKERS_AI_MODEL } from "./workers-ai.ts";

export type Transcription = { model: string; baseUrl?: string; apiKey?: string };

/** The value is undefined when voice messages are not accepted. */
export const readTranscription = readOnce((env: Variables): Parsed<Transcription | undefined> => {
  const model = env.TRANSCRIPTION_MODEL?.trim();
  if (!model) return { ok: true, value: undefined };
  if (IS_WORKERS_AI_MODEL.test(model)) return { ok: true, value: { model } };
  const baseUrl = env.TRANSCRIPTION_BASE_URL?.trim().replace(/\/+$/, "") ?? "";
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl))
    return {
      ok: false,
      error:
        "TRANSCRIPTION_BASE_URL: expected an http(s) address that ends in /v1, or a model of Cloudflare's (@cf/…) in TRANSCRIPTION_MODEL",
    };
  const apiKey = env.TRANSCRIPTION_API_KEY?.trim();
  if (apiKey && !/^[\x21-\x7e]+$/.test(apiKey))
    return {
      ok: false,
      error: "TRANSCRIPTION_API_KEY: holds a blank or a character that no header can carry",
    };
  return { ok: true, value: { model, baseUrl, ...(apiKey && { apiKey }) } };
});
