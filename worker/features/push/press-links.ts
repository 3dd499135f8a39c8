/** Links of buttons in browsers and below messages of ntfy: each presses one button, once, without a token. Their claims are signed, so a forged link wakes no object. */
import { toBase64Url, tryFromBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import { tokenBody } from "@edgecall/core/protocol/signed-token.ts";
import type { Env } from "../../kernel/env.ts";
import { lastingMacKey } from "../../kernel/settings/mac-key.ts";
import type { NewPress, PressClaims } from "./contract.ts";

/** Like the message's own life. */
const LIFE_MS = 24 * 3_600_000;
const PURPOSE = "rule press";

/** @param origin where the person reaches the gateway */
export async function pressLink(env: Env, origin: string, press: NewPress): Promise<string> {
  const body = tokenBody({ ...press, until: Date.now() + LIFE_MS, once: crypto.randomUUID() });
  const mac = await crypto.subtle.sign("HMAC", await lastingMacKey(env, PURPOSE), utf8(body));
  return `${origin}/v1/push/press/${body}.${toBase64Url(new Uint8Array(mac))}`;
}

/** @returns undefined: the link is not ours, or has ended */
export async function readPressLink(env: Env, text: string): Promise<PressClaims | undefined> {
  const [body = "", mac = ""] = text.split(".");
  const [claims, sum] = [tryFromBase64Url(body), tryFromBase64Url(mac)];
  const key = await lastingMacKey(env, PURPOSE);
  if (!claims || !sum || !(await crypto.subtle.verify("HMAC", key, sum, utf8(body)))) return undefined;
  // SAFETY: the MAC says that `pressLink` wrote it.
  const press = JSON.parse(new TextDecoder().decode(claims)) as PressClaims;
  return press.until > Date.now() ? press : undefined;
}
