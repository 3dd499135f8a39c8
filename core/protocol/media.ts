/**
 * Pictures and files that a call brings. A picture that fits travels in the report; everything larger is
 * uploaded over HTTPS first, and the report names it. At the gateway both are rows of the conversation, and
 * history, answers and models' requests hold the reference alone.
 */
import { CallId } from "./names.ts";
import { z } from "./parse.ts";

/** What a model can look at, and a browser show, without running anything. */
export const RASTER_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/** The largest picture or file of one upload, in bytes. */
export const MEDIA_MAX_BYTES = 8 * 1024 * 1024;
/** Pictures in one report, together, in characters of base64: more would not pass a small broker. */
export const INLINE_MAX_CHARS = 64 * 1024;
/** Pictures and files of one call. */
export const MEDIA_MAX_ITEMS = 16;

export const MEDIA_TYPE = /^[a-z]+\/[a-z0-9][a-z0-9.+-]{0,80}$/;
/** `uuid`, or `uuid-n`, then the conversation that keeps it (base64url of `channel/id`). */
export const MEDIA_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-\d{1,2})?\.[A-Za-z0-9_-]{1,260}$/;

const mediaType = z.string().check(z.regex(MEDIA_TYPE));
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const size = z.int().check(z.minimum(1), z.maximum(MEDIA_MAX_BYTES));

/** In a report: bytes and all. */
export const InlineMedia = z.looseObject({
  media_type: z.enum(RASTER_TYPES),
  bytes: size,
  /** base64 */
  data: z.string().check(z.maxLength(INLINE_MAX_CHARS), z.regex(/^[A-Za-z0-9+/]+={0,2}$/)),
});
/** Kept by the gateway. */
export const StoredMedia = z.looseObject({
  media_type: mediaType,
  bytes: size,
  id: z.string().check(z.regex(MEDIA_ID)),
  sha256,
});
export type InlineMedia = { media_type: string; bytes: number; data: string };
export type StoredMedia = { media_type: string; bytes: number; id: string; sha256: string };

/** One picture or file of `payload.media` in a report. */
export type Media = StoredMedia | InlineMedia;

/** `events`: a call asks where to upload something to. The answer is the command `upload`. */
export const UploadRequest = z.looseObject({
  type: z.literal("upload"),
  request_id: CallId,
  upload_id: z.string().check(z.regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)),
  media_type: mediaType,
  bytes: z.int().check(z.minimum(1)),
  sha256,
});
export type UploadRequest = z.infer<typeof UploadRequest>;

/** Payload of the command `upload`: where to `PUT` the bytes, with which token; or why not. */
export const UploadCommand = z.union([
  z.looseObject({
    upload_id: z.string(),
    url: z.string(),
    token: z.string(),
    id: z.string().check(z.regex(MEDIA_ID)),
  }),
  z.looseObject({ upload_id: z.string(), refused: z.string() }),
]);
export type UploadCommand = z.infer<typeof UploadCommand>;

export function isPicture(media: { media_type: string }): boolean {
  return (RASTER_TYPES as readonly string[]).includes(media.media_type);
}

/** For a text in its place: `[image/jpeg, 34 KB, id …]`. */
export function mediaText(media: Media): string {
  const where = "id" in media ? `, /v1/media/${media.id}` : "";
  return `[${media.media_type}, ${Math.ceil(media.bytes / 1024)} KB${where}]`;
}
