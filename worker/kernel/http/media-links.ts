/**
 * Links to a picture or file for clients that cannot send a token with an image: a chat page shows
 * `![…](https://…)`, and a browser fetches it without a token. The link names the home and when it ends. Its MAC covers
 * both and the id, so it opens this one file, for a day. A forged link wakes no object.
 */
import { fromBase64Url, toBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import type { Env } from "../env.ts";
import { macKey } from "../settings/mac-key.ts";
import { HOME_ID } from "../settings/tokens.ts";

/** People read a chat again the same evening; a link in an old log should open nothing. */
const LINK_LIFE_S = 24 * 3_600;

/** @param origin where people reach this gateway @param id of a file that the home stores */
export async function mediaLink(env: Env, origin: string, home: string, id: string): Promise<string> {
  const until = Math.floor(Date.now() / 1_000) + LINK_LIFE_S;
  const mac = await crypto.subtle.sign("HMAC", await macKey(env, "link"), signed(home, until, id));
  return `${origin}/v1/media/${id}?home=${home}&until=${until}&mac=${toBase64Url(new Uint8Array(mac))}`;
}

/** @param home, until, mac from the link's query */
export async function isValidLink(
  env: Env,
  id: string,
  home: string,
  until: string,
  mac: string,
): Promise<boolean> {
  if (!HOME_ID.test(home) || !/^\d{10}$/.test(until) || !/^[A-Za-z0-9_-]{43}$/.test(mac)) return false;
  const key = await macKey(env, "link");
  if (!(await crypto.subtle.verify("HMAC", key, fromBase64Url(mac), signed(home, Number(until), id))))
    return false;
  return Number(until) * 1_000 > Date.now();
}

function signed(home: string, until: number, id: string): Uint8Array {
  return utf8(`${home}\n${until}\n${id}`);
}
