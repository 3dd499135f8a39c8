/**
 * Links to a picture or file for clients that cannot send a token with an image: a chat page shows
 * `![…](https://…)`, and a browser fetches it bare. The link names the home and when it ends, and our MAC is on
 * both and on the id, so it opens this one thing, for a day, and wakes no object when it is forged.
 */
import { isPicture, MEDIA_ID } from "@edgecall/core/protocol/media.ts";
import type { Context, Next } from "hono";
import { conversationOf } from "../api/objects.ts";
import { base64Url, conversationOfMedia } from "../conversation/store/media.ts";
import type { Env } from "../env.ts";
import { HOME_ID } from "../http/auth.ts";
import { type App, HttpError } from "../http/http.ts";
import { countAddress, countGuess } from "../http/rates.ts";
import { fromBase64Url, macKey, utf8 } from "../http/uploads.ts";

/** A chat is looked at again the same evening; a link in an old log should open nothing. */
const LINK_LIFE_S = 24 * 3_600;

/** @param origin where people reach this gateway; @param id of what the home keeps */
export async function mediaLink(env: Env, origin: string, home: string, id: string): Promise<string> {
  const until = Math.floor(Date.now() / 1_000) + LINK_LIFE_S;
  const mac = await crypto.subtle.sign("HMAC", await macKey(env, "link"), signed(home, until, id));
  return `${origin}/v1/media/${id}?home=${home}&until=${until}&mac=${base64Url(new Uint8Array(mac))}`;
}

/** `GET /v1/media/{id}` with a link's query. Without one it is for the route that wants a token. */
export async function getLinkedMedia(c: Context<App>, next: Next): Promise<Response | undefined> {
  const { home, until, mac } = c.req.query();
  if (mac === undefined) {
    await next();
    return undefined;
  }
  const id = c.req.param("id") ?? "";
  await countAddress(c);
  const place = MEDIA_ID.test(id) ? conversationOfMedia(id) : undefined;
  if (!place || !(await isValid(c.env, id, home ?? "", until ?? "", mac))) {
    await countGuess(c);
    throw notOpened();
  }
  const name = `${home}/${place.channel}/${place.conversation}`;
  const kept = await conversationOf(c.env, name).media(id);
  if (!kept) throw notOpened();
  return c.body(kept.data.buffer as ArrayBuffer, 200, { ...SAFE, ...typeHeaders(kept.mediaType) });
}

async function isValid(env: Env, id: string, home: string, until: string, mac: string): Promise<boolean> {
  if (!HOME_ID.test(home) || !/^\d{10}$/.test(until) || !/^[A-Za-z0-9_-]{43}$/.test(mac)) return false;
  const key = await macKey(env, "link");
  if (!(await crypto.subtle.verify("HMAC", key, fromBase64Url(mac), signed(home, Number(until), id))))
    return false;
  return Number(until) * 1_000 > Date.now();
}

function signed(home: string, until: number, id: string): Uint8Array {
  return utf8(`${home}\n${until}\n${id}`);
}

/** Shown inside other people's pages, so it may be embedded; beyond that it has no authority here. */
const SAFE = {
  "content-security-policy": "sandbox; default-src 'none'",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "cross-origin",
  "referrer-policy": "no-referrer",
  "cache-control": "private, max-age=3600",
};

/** Pictures are shown; nothing else is, since whoever follows a link has not asked for a page of a device's. */
function typeHeaders(mediaType: string): Record<string, string> {
  if (isPicture({ media_type: mediaType })) return { "content-type": mediaType };
  return { "content-type": "application/octet-stream", "content-disposition": "attachment" };
}

function notOpened(): HttpError {
  return new HttpError(404, "not_found", "no such picture or file, or its link has ended");
}
