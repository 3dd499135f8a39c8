/**
 * Uploads pictures and files that are too large for the broker. An event asks the gateway where to. The command `upload`
 * answers with an address and a token for this one upload. The bytes go there by HTTPS.
 */

import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { MEDIA_MAX_BYTES, UploadCommand, type UploadRequest } from "@edgecall/core/protocol/media.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { type Content, Unstorable } from "@edgecall/core/tools/contract.ts";
import { inlinePicture } from "@edgecall/core/tools/inline.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";

/** The event is repeated at this interval: it may be lost with a connection. */
const ASK_EVERY_MS = 2_000;
/** If there is no answer by then, the gateway is older, or there is none. */
const ANSWER_WITHIN_MS = 10_000;
/** Tries of the transfer. The connection may have dropped for a moment. */
const TRIES = 3;
const TRY_AGAIN_MS = 500;

type OnAnswer = (answer: UploadCommand) => void;

export class Uploads {
  readonly #ask: (request: UploadRequest) => void;
  readonly #log: Log;
  readonly #waiting = new Map<string, OnAnswer>();

  constructor(ask: (request: UploadRequest) => void, log: Log) {
    this.#ask = ask;
    this.#log = log;
  }

  /**
   * Puts a picture that fits into the report. Uploads anything else to the gateway.
   * @param requestId the command that it belongs to
   * @throws Unstorable
   */
  async keep(requestId: string, bytes: Uint8Array, mediaType: string, signal: AbortSignal): Promise<Content> {
    return inlinePicture(bytes, mediaType) ?? (await this.upload(requestId, bytes, mediaType, signal));
  }

  /** @throws Unstorable */
  async upload(
    requestId: string,
    bytes: Uint8Array,
    mediaType: string,
    signal: AbortSignal,
  ): Promise<Content & { type: "artifact" }> {
    if (bytes.length === 0) throw unstorable(mediaType, bytes, "it is empty");
    if (bytes.length > MEDIA_MAX_BYTES)
      throw unstorable(mediaType, bytes, `at most ${MEDIA_MAX_BYTES} bytes are taken`);
    const request: UploadRequest = {
      type: "upload",
      request_id: requestId,
      upload_id: randomUUID(),
      media_type: mediaType,
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    };
    const answer = await this.#askWhere(request, signal);
    if (answer === undefined) throw unstorable(mediaType, bytes, "the gateway did not say where to");
    if (!("url" in answer))
      throw unstorable(mediaType, bytes, `the gateway refused it: ${String(answer.refused)}`);
    const { url, token, id } = answer as Extract<UploadCommand, { url: string }>;
    await this.#put(url, token, bytes, mediaType, signal);
    return { type: "artifact", id, mediaType, bytes: bytes.length, sha256: request.sha256 };
  }

  /** Takes the gateway's command `upload`. @returns what is wrong with it, in words */
  onCommand(payload: Record<string, unknown>): string | undefined {
    const command = check(UploadCommand, payload);
    if (!command.ok) return `payload.${command.error}`;
    this.#waiting.get(command.value.upload_id)?.(command.value);
    return undefined;
  }

  async #askWhere(request: UploadRequest, signal: AbortSignal): Promise<UploadCommand | undefined> {
    const enough = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
    const asking = setInterval(() => this.#ask(request), ASK_EVERY_MS);
    try {
      return await new Promise<UploadCommand | undefined>((resolve) => {
        enough.addEventListener("abort", () => resolve(undefined), { once: true });
        this.#waiting.set(request.upload_id, resolve);
        this.#ask(request);
      });
    } finally {
      clearInterval(asking);
      this.#waiting.delete(request.upload_id);
      signal.throwIfAborted();
    }
  }

  async #put(
    url: string,
    token: string,
    bytes: Uint8Array,
    mediaType: string,
    signal: AbortSignal,
  ): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const problem = await this.#putOnce(url, token, bytes, signal);
      if (problem === undefined) return;
      signal.throwIfAborted();
      this.#log("warn", "upload.failed", { url: new URL(url).origin, tries, error: problem });
      if (tries >= TRIES) throw unstorable(mediaType, bytes, `${new URL(url).origin}: ${problem}`);
      await pause(TRY_AGAIN_MS, undefined, { signal });
    }
  }

  async #putOnce(
    url: string,
    token: string,
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    try {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/octet-stream" };
      const response = await fetch(url, {
        method: "PUT",
        headers,
        body: new Uint8Array(bytes),
        signal,
        redirect: "error",
      });
      const body = await response.text();
      return response.ok ? undefined : `${response.status} ${cutText(body, 200)}`;
    } catch (error) {
      return messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
    }
  }
}

function unstorable(mediaType: string, bytes: Uint8Array, why: string): Unstorable {
  return new Unstorable({
    text: `Error: The result (${mediaType}, ${bytes.length} bytes) could not be brought to the gateway: ${why}.`,
    advice: "Ask for something smaller or explain to the user.",
  });
}
