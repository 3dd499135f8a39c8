/**
 * Sign-in behind Cloudflare Access. Its JWT names the e-mail address, and a setting maps the address to the record of one of
 * our tokens. WebCrypto verifies the JWT with the team's keys, only at sign-in.
 * https://developers.cloudflare.com/cloudflare-one/identity/authorization-cookie/validating-json/
 */
import { tryFromBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import type { Env } from "../env.ts";
import { recordNames, teamAddress } from "../settings/access.ts";
import { type ApiToken, apiTokenRecords } from "../settings/tokens.ts";

/** Tolerated difference between Cloudflare's clock and ours, in seconds. */
const CLOCK_SKEW_S = 60;
/** Longest JWT in characters; Access sends about 1 KB. */
const JWT_MAX = 8_192;
/** Keys change every six weeks and the old one stays valid for a week, so an hour is short enough. */
const KEYS_CACHE_S = 3_600;

const Header = z.object({ alg: z.literal("RS256"), kid: z.string() });
const Claims = z.object({
  iss: z.string(),
  aud: z.union([z.string(), z.array(z.string())]),
  email: z.string(),
  exp: z.number(),
  nbf: z.optional(z.number()),
});
const Keys = z.object({
  keys: z.array(z.object({ kid: z.string(), kty: z.string(), n: z.string(), e: z.string() })),
});

export type AccessEntry =
  | { ok: true; token: ApiToken /** Until Access wants to see them again. */; seconds: number }
  | { ok: false; why: string };

/** @param jwt the header `Cf-Access-Jwt-Assertion` @throws SettingsError */
export async function accessEntry(env: Env, jwt: string): Promise<AccessEntry> {
  const issuer = teamAddress(env);
  const [head = "", body = "", mac = "", ...more] = jwt.length > JWT_MAX ? [] : jwt.split(".");
  if (more.length > 0 || ![head, body, mac].every((part) => /^[A-Za-z0-9_-]+$/.test(part)))
    return { ok: false, why: "not a token of Cloudflare Access" };
  const header = checkJson(Header, textOf(head));
  if (!header.ok) return { ok: false, why: "not a token of Cloudflare Access" };
  const key = await teamKey(issuer, header.value.kid);
  if (!key) return { ok: false, why: "the team's keys cannot be had, or do not have the token's" };
  if (
    !(await crypto.subtle.verify(
      "RSASSA-PKCS1-v1_5",
      key,
      tryFromBase64Url(mac) ?? new Uint8Array(),
      utf8(`${head}.${body}`),
    ))
  )
    return { ok: false, why: "the token's signature is wrong" };
  const claims = checkJson(Claims, textOf(body));
  if (!claims.ok) return { ok: false, why: "the token names no person" };
  const { iss, aud, email, exp, nbf = 0 } = claims.value;
  const now = Date.now() / 1_000;
  if (iss !== issuer || ![aud].flat().includes(env.ACCESS_AUD ?? ""))
    return { ok: false, why: "the token is for another team or application" };
  if (exp <= now || nbf > now + CLOCK_SKEW_S) return { ok: false, why: "the token's time is over" };
  const records = apiTokenRecords(env);
  const name = recordNames(env, records).get(email.toLowerCase());
  const token = records.find((record) => record.name === name);
  if (!token) return { ok: false, why: `ACCESS_EMAILS does not name ${email}` };
  return { ok: true, token, seconds: Math.floor(exp - now) };
}

async function teamKey(issuer: string, kid: string): Promise<CryptoKey | undefined> {
  try {
    const response = await fetch(`${issuer}/cdn-cgi/access/certs`, {
      cf: { cacheTtl: KEYS_CACHE_S, cacheEverything: true },
      signal: AbortSignal.timeout(5_000),
    });
    const keys = checkJson(Keys, await response.text());
    const jwk = keys.ok ? keys.value.keys.find((one) => one.kid === kid && one.kty === "RSA") : undefined;
    if (!response.ok || !jwk) return undefined;
    const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
    return await crypto.subtle.importKey("jwk", jwk, algorithm, false, ["verify"]);
  } catch {
    return undefined;
  }
}

function textOf(part: string): string {
  return new TextDecoder().decode(tryFromBase64Url(part));
}
