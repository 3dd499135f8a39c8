/**
 * Transcribes voice messages with a model of Cloudflare, or at any endpoint with OpenAI's `/audio/transcriptions`
 * (https://platform.openai.com/docs/api-reference/audio/createTranscription). Off until a model is named.
 */

import { toBase64 } from "@edgecall/core/encoding.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { withTimeLimit } from "@edgecall/core/time-limit.ts";
import type { Transcription } from "../settings/transcription.ts";
import type { WorkersAi } from "./workers-ai.ts";

/** Voice messages are short, and a person waits. */
const TIMEOUT_MS = 60_000;
/** The longest transcript, as long as the longest message. */
const TEXT_MAX_CHARS = 30_000;

/**
 * @param audio in the chat platform's format: OGG/Opus, M4A, MP3
 * @returns the transcript without white space around it; may be empty
 * @throws Error when there is no answer, or none with text
 */
export async function transcribe(
  { model, baseUrl, apiKey }: Transcription,
  ai: WorkersAi | undefined,
  audio: { data: Uint8Array; mediaType: string },
): Promise<string> {
  const answer =
    baseUrl === undefined
      ? await askWorkersAi(ai, model, audio.data)
      : await askEndpoint({ model, baseUrl, apiKey }, audio);
  const text = (answer as { text?: unknown } | null)?.text;
  if (typeof text !== "string") throw new Error("the transcription has no text");
  return cutText(text.trim(), TEXT_MAX_CHARS);
}

async function askWorkersAi(ai: WorkersAi | undefined, model: string, data: Uint8Array): Promise<unknown> {
  if (!ai) throw new Error("TRANSCRIPTION_MODEL is Cloudflare's, and the binding AI is missing");
  // The turbo model accepts base64, the older one a list of bytes (https://developers.cloudflare.com/workers-ai/models/).
  const audio = model.endsWith("-turbo") ? toBase64(data) : [...data];
  return await withTimeLimit(TIMEOUT_MS, async (signal) => await ai.run(model, { audio }, { signal }));
}

async function askEndpoint(
  { model, baseUrl, apiKey }: { model: string; baseUrl: string; apiKey: string | undefined },
  { data, mediaType }: { data: Uint8Array; mediaType: string },
): Promise<unknown> {
  const form = new FormData();
  form.set("model", model);
  form.set("response_format", "json");
  form.set("file", new Blob([data], { type: mediaType }), `voice.${ENDINGS[mediaType] ?? "ogg"}`);
  return await withTimeLimit(TIMEOUT_MS, async (signal) => {
    const response = await fetch(`${baseUrl}/audio/transcriptions`, {
      method: "POST",
      ...(apiKey && { headers: { authorization: `Bearer ${apiKey}` } }),
      body: form,
      // No redirects: the key is only for this address.
      redirect: "manual",
      signal,
    });
    if (response.ok) return await response.json();
    await response.body?.cancel();
    throw new Error(`the endpoint for transcriptions answered ${response.status}`);
  });
}

/** These endpoints recognise the format by the file's name. */
const ENDINGS: Record<string, string> = {
  "audio/ogg": "ogg",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
  "audio/m4a": "m4a",
  "audio/x-m4a": "m4a",
  "audio/webm": "webm",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
};
