/**
 * The token by which a device asks the gateway's relay for its model: made of the device's key, for five minutes.
 *
 *     base64url of {"agent","exp","for","nonce"} "." base64url of its Ed25519 signature
 *
 * `for` is the relay that it is for, so that no other gateway that knows the device can use it here.
 */
import { AGENT_ID } from "./names.ts";
import { checkJson, type Parsed, z } from "./parse.ts";
import { fromBase64Url, Signature, toBase64Url } from "./signing.ts";

/** Never shared with another use of the same key; raised when the form changes. */
const DOMAIN = "edgecall relay token v1";
export const RELAY_TOKEN_SECONDS = 300;
/** How far a device's clock may be ahead of the gateway's. */
const CLOCK_SLACK_SECONDS = 60;
/** Of a whole token: its parts are short. */
const MAX_CHARS = 1_024;

const Claims = z.strictObject({
  agent: z.string().check(z.regex(AGENT_ID)),
  /** Epoch seconds. */
  exp: z.int(),
  for: z.string().check(z.minLength(1), z.maxLength(300)),
  nonce: z.string().check(z.minLength(8), z.maxLength(64)),
});
export type RelayClaims = z.infer<typeof Claims>;

/** What is known of a token before its signature was looked at, which takes the agent's key. */
export type RelayToken = { claims: RelayClaims; body: string; signature: string };

/** @param baseUrl of the relay, as the device has it in its settings */
export function relayPlace(baseUrl: string): string {
  const { host, pathname } = new URL(baseUrl);
  return host + pathname.replace(/\/+$/, "");
}

/** The first part of a token, to be signed. */
export function relayTokenBody(claims: RelayClaims): string {
  return toBase64Url(utf8(JSON.stringify(claims)));
}

export function relayTokenBytes(body: string): Uint8Array<ArrayBuffer> {
  return utf8(`${DOMAIN}\n${body}`);
}

/** @param now epoch ms @param place where it was shown; see `relayPlace` */
export function readRelayToken(token: string, place: string, now: number): Parsed<RelayToken> {
  const [, body = "", signature = ""] = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(token) ?? [];
  if (body === "" || token.length > MAX_CHARS || !Signature.safeParse(signature).success)
    return wrong("it is no relay token");
  const claims = checkJson(Claims, decoded(body));
  if (!claims.ok) return wrong("it is no relay token");
  const left = claims.value.exp - now / 1_000;
  if (left <= 0) return wrong("it has expired, or the device's clock is behind");
  if (left > RELAY_TOKEN_SECONDS + CLOCK_SLACK_SECONDS)
    return wrong("it holds for longer than five minutes, or the device's clock is ahead");
  if (claims.value.for !== place) return wrong(`it is for another address than ${place}`);
  return { ok: true, value: { claims: claims.value, body, signature } };
}

function decoded(body: string): string {
  try {
    return new TextDecoder().decode(fromBase64Url(body));
  } catch {
    return "";
  }
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  // SAFETY: an encoder's result is never shared memory; not every runtime's types say so.
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
}

function wrong(error: string): { ok: false; error: string } {
  return { ok: false, error };
}
