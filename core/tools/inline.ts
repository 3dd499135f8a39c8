/** Pictures that travel within a result. */
import { toBase64 } from "../encoding.ts";
import { INLINE_MAX_CHARS, isPicture } from "../protocol/media.ts";
import { type Content, Unstorable } from "./contract.ts";

export type KeepArtifact = (bytes: Uint8Array, mediaType: string, signal: AbortSignal) => Promise<Content>;

/** Puts a picture into the result if it fits. Without a gateway nothing else can be stored. */
export async function inline(bytes: Uint8Array, mediaType: string): Promise<Content> {
  const picture = inlinePicture(bytes, mediaType);
  if (picture) return picture;
  throw new Unstorable({
    text: `Error: The result (${mediaType}, ${bytes.length} bytes) does not fit a message, and there is no gateway here to bring it to.`,
    advice: "Ask for something smaller or explain to the user.",
  });
}

/** @returns undefined when it is not a picture or too large */
export function inlinePicture(
  bytes: Uint8Array,
  mediaType: string,
): (Content & { type: "image" }) | undefined {
  const fits = Math.ceil(bytes.length / 3) * 4 <= INLINE_MAX_CHARS;
  return fits && isPicture({ media_type: mediaType })
    ? { type: "image", mediaType, data: toBase64(bytes) }
    : undefined;
}
