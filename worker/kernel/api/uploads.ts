/**
 * A device sends what is too large for the broker over HTTPS, with a token for that one upload. The token names the bytes
 * and the conversation, permits nothing else, and expires. It carries our MAC, so it is checked before any object is woken.
 */
import { fromBase64Url, toBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import {
  MEDIA_ID,
  MEDIA_MAX_BYTES,
  type UploadCommand,
  type UploadRequest,
} from "@edgecall/core/protocol/media.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import type { Env } from "../env.ts";
import { macKey } from "../settings/mac-key.ts";
import { mediaId } from "./media.ts";

/** An agent begins at once. An upload that has begun may take longer. */
const TOKEN_LIFE_MS = 5 * 60_000;

const Grant = z.strictObject({
  id: z.string().check(z.regex(MEDIA_ID)),
  /** `home/channel/id` */
  conversation: z.string(),
  /** The home that gave the grant; absent in grants of versions before 0.3. */
  home: z.optional(z.string()),
  /** The principal that made the call; absent in grants of versions before 0.3. */
  principal: z.optional(z.string()),
  media_type: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  expires_at: z.int(),
});
export type Grant = z.infer<typeof Grant>;

/**
 * The answer to a device that wants to upload something for one of its calls.
 * @param call its home, its conversation (`home/channel/id`) and the principal that made it
 * @param origin where the device reaches this gateway
 */
export async function uploadCommand(
  env: Env,
  request: UploadRequest,
  { home, conversation, principal }: { home: string; conversation: string; principal: string },
  origin: string | undefined,
): Promise<UploadCommand> {
  const { upload_id, media_type, bytes, sha256 } = request;
  if (bytes > MEDIA_MAX_BYTES)
    return { upload_id, refused: `${bytes} bytes, and one file may have ${MEDIA_MAX_BYTES}` };
  if (!conversation.startsWith(`${home}/`))
    return { upload_id, refused: "the call is of a conversation of another home" };
  if (origin === undefined) return { upload_id, refused: "the gateway does not know its own address" };
  const id = mediaId(upload_id, conversation);
  const grant: Grant = {
    id,
    home,
    conversation,
    principal,
    media_type,
    bytes,
    sha256,
    expires_at: Date.now() + TOKEN_LIFE_MS,
  };
  return { upload_id, url: `${origin}/v1/media/${id}`, token: await sign(env, grant), id };
}

/** @returns the grant of a token; undefined when the token is forged, expired or for something else */
export async function readGrant(
  env: Env,
  authorization: string | undefined,
  id: string,
): Promise<Grant | undefined> {
  const token = /^Bearer ([A-Za-z0-9_-]{1,2000})\.([A-Za-z0-9_-]{43})$/i.exec(authorization ?? "");
  if (token?.[1] === undefined || token[2] === undefined) return undefined;
  const key = await macKey(env, "upload");
  if (!(await crypto.subtle.verify("HMAC", key, fromBase64Url(token[2]), utf8(token[1])))) return undefined;
  const grant = checkJson(Grant, new TextDecoder().decode(fromBase64Url(token[1])));
  if (!grant.ok || grant.value.id !== id || grant.value.expires_at <= Date.now()) return undefined;
  // A grant is valid only for conversations of the home that gave it.
  const { home, conversation } = grant.value;
  return home === undefined || conversation.startsWith(`${home}/`) ? grant.value : undefined;
}

async function sign(env: Env, grant: Grant): Promise<string> {
  const text = toBase64Url(utf8(JSON.stringify(grant)));
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", await macKey(env, "upload"), utf8(text)));
  return `${text}.${toBase64Url(mac)}`;
}
