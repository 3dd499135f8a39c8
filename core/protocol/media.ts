/**
 * Pictures and files of a call's result. A picture that fits travels in the report. Anything larger is uploaded over HTTPS
 * first, and the report refers to it. The gateway stores both in rows of the conversation; history, answers and model
 * requests hold only the reference.
 */
import { CallId } from "./names.ts";
import { z } from "./parse.ts";

/** Picture types that a model can see and a browser can show without running code. */
const RASTER_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/** Largest upload, in bytes. */
export const MEDIA_MAX_BYTES = 8 * 1024 * 1024;
/** Most base64 characters of all pictures in a report together: more would not pass a small broker. */
export const INLINE_MAX_CHARS = 64 * 1024;
/** Most pictures and files of one call. */
export const MEDIA_MAX_ITEMS = 16;

export const MEDIA_TYPE = /^[a-z]+\/[a-z0-9][a-z0-9.+-]{0,80}$/;
/** `uuid` or `uuid-n`, then the conversation that stores it (base64url of `channel/id`). */
export const MEDIA_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-\d{1,2})?\.[A-Za-z0-9_-]{1,260}$/;

/** Spellings of registered types that programs write. */
const SPELLINGS = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/x-png", "image/png"],
]);

/** A media type as it is registered: in lower case, without parameters. */
export function registeredType(written: string): string {
  const [type = ""] = written.toLowerCase().split(";", 1);
  return SPELLINGS.get(type.trim()) ?? type.trim();
}

const written = () => z.string().check(z.maxLength(200), z.overwrite(registeredType));
const mediaType = written().check(z.regex(MEDIA_TYPE));
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const size = z.int().check(z.minimum(1), z.maximum(MEDIA_MAX_BYTES));

/** A picture that travels in a report, with its bytes. */
export const InlineMedia = z.looseObject({
  media_type: written().check(
    z.refine((media_type) => isPicture({ media_type }), "expected a picture's type"),
  ),
  bytes: size,
  /** base64 */
  data: z.string().check(z.maxLength(INLINE_MAX_CHARS), z.regex(/^[A-Za-z0-9+/]+={0,2}$/)),
});
/** A picture or file that the gateway stores. */
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

/** Sent on `events`: a call asks where to upload something. The answer is the command `upload`. */
export const UploadRequest = z.looseObject({
  type: z.literal("upload"),
  request_id: CallId,
  upload_id: z.string().check(z.regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)),
  media_type: mediaType,
  bytes: z.int().check(z.minimum(1)),
  sha256,
});
export type UploadRequest = z.infer<typeof UploadRequest>;

/** Payload of the command `upload`: the address and token for a `PUT` of the bytes, or why it is refused. */
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

/** Returns the text that replaces it: `[image/jpeg, 34 KB, id …]`. */
export function mediaText(media: Media): string {
  const where = "id" in media ? `, /v1/media/${media.id}` : "";
  return `[${media.media_type}, ${Math.ceil(media.bytes / 1024)} KB${where}]`;
}
