/** Prepares a result to leave the runner: without secrets and within the size limits. */
import { INLINE_MAX_CHARS } from "../protocol/media.ts";
import { graphemeCut } from "../text/cut.ts";
import type { Content, ToolResult } from "./contract.ts";
import { maskDeep, maskSecrets } from "./secrets.ts";

/** Most bytes of text in a result: more would push everything else out of the model's context. */
export const RESULT_TEXT_MAX_BYTES = 50 * 1024;
/** Most base64 characters of an image in a result, because it must pass the broker. Larger ones are artifacts. */
export const RESULT_IMAGE_MAX_BYTES = INLINE_MAX_CHARS;

/** Masks secrets first and then cuts, because a secret that was cut in two would escape the filter. */
export function outgoing(result: ToolResult, secrets: readonly string[] = []): ToolResult {
  return capped(secrets.length > 0 ? withoutSecrets(result, secrets) : result);
}

/** A fault's `cause` stays unchanged: only the log gets it, and the log has its own filter. */
function withoutSecrets(result: ToolResult, secrets: readonly string[]): ToolResult {
  const mask = (text: string) => maskSecrets(text, secrets);
  const { forUser, fault, details } = result;
  return {
    ...result,
    content: result.content.map((part) =>
      part.type === "text" ? { type: "text", text: mask(part.text) } : part,
    ),
    ...(forUser !== undefined && { forUser: mask(forUser) }),
    ...(fault && {
      fault: {
        ...fault,
        message: mask(fault.message),
        ...(fault.advice !== undefined && { advice: mask(fault.advice) }),
      },
    }),
    ...(details && { details: maskDeep(details, secrets) as Record<string, unknown> }),
  };
}

/** Applies the size limits to the texts for the model and the person, and notes each cut in the text. */
function capped(result: ToolResult): ToolResult {
  let left = RESULT_TEXT_MAX_BYTES;
  const content = result.content.map((part): Content => {
    if (part.type === "image" && part.data.length > RESULT_IMAGE_MAX_BYTES) {
      return {
        type: "text",
        text: `[image of ${part.data.length} bytes left out: over ${RESULT_IMAGE_MAX_BYTES}]`,
      };
    }
    if (part.type !== "text") return part;
    const text = cutText(part.text, left);
    left = Math.max(0, left - new TextEncoder().encode(text).length);
    return { type: "text", text };
  });
  const { forUser, fault } = result;
  return {
    ...result,
    content,
    ...(forUser !== undefined && { forUser: cutText(forUser, RESULT_TEXT_MAX_BYTES) }),
    ...(fault && { fault: { ...fault, message: cutText(fault.message, RESULT_TEXT_MAX_BYTES) } }),
  };
}

/** Cuts text between graphemes so that its UTF-8 form fits `maxBytes`, not counting the notice. */
export function cutText(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  // In streaming mode the decoder holds back a character that was cut in two instead of replacing it.
  const head = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(
    bytes.subarray(0, maxBytes),
    {
      stream: true,
    },
  );
  return `${text.slice(0, graphemeCut(text, head.length))}\n[Cut: ${maxBytes} of ${bytes.length} bytes shown.]`;
}
