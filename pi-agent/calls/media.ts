/** Packs the pictures and files of results into a report. */
import { INLINE_MAX_CHARS, MEDIA_MAX_ITEMS, type Media } from "@edgecall/core/protocol/media.ts";
import { forModel } from "@edgecall/core/tools/advice.ts";
import { type Content, type ToolResult, Unstorable } from "@edgecall/core/tools/contract.ts";
import type { Uploads } from "./uploads.ts";

/** The parts of a result that are not text. */
export function mediaOf(result: ToolResult): Media[] {
  return result.content.flatMap((part) => (part.type === "text" ? [] : [toMedia(part)]));
}

function toMedia(part: Exclude<Content, { type: "text" }>): Media {
  if (part.type === "image")
    return { media_type: part.mediaType, bytes: Buffer.byteLength(part.data, "base64"), data: part.data };
  return { media_type: part.mediaType, bytes: part.bytes, id: part.id, sha256: part.sha256 };
}

/** The media of a report. `lost`: text on what could not be included. */
export type Packed = { media: Media[]; lost: string };

/**
 * The first pictures go into the report, as many as pass the broker. The others are uploaded to the gateway.
 * @param requestId the command that the report answers
 */
export async function pack(
  media: readonly Media[],
  requestId: string,
  uploads: Uploads,
  signal: AbortSignal,
): Promise<Packed> {
  const packed: Packed = { media: [], lost: "" };
  let chars = 0;
  for (const item of media) {
    if (packed.media.length >= MEDIA_MAX_ITEMS) {
      packed.lost += `\n[${item.media_type} left out: ${MEDIA_MAX_ITEMS} come along at most]`;
    } else if (!("data" in item) || chars + item.data.length <= INLINE_MAX_CHARS) {
      if ("data" in item) chars += item.data.length;
      packed.media.push(item);
    } else {
      try {
        const bytes = Buffer.from(item.data, "base64");
        packed.media.push(toMedia(await uploads.upload(requestId, bytes, item.media_type, signal)));
      } catch (error) {
        const why =
          error instanceof Unstorable
            ? forModel(error.words)
            : `[${item.media_type} left out: the call ended]`;
        packed.lost += `\n${why}`;
      }
    }
  }
  return packed;
}
