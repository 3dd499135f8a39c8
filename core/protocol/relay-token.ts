/**
 * The token with which a device uses the gateway's model relay. The device signs it with its key, for five minutes
 * (signed-token.ts). `for` names the relay, so that another gateway that knows the device cannot use the token here.
 */
import { AGENT_ID } from "./names.ts";
import { type Parsed, wrong, z } from "./parse.ts";
import { type SignedToken, splitToken, tokenBody, tokenBytes } from "./signed-token.ts";

/** Separates this use of the key from all others. The version rises when the form changes. */
const DOMAIN = "edgecall relay token v1";
export const RELAY_TOKEN_SECONDS = 300;
/** How far a device's clock may be ahead of the gateway's. */
const CLOCK_SLACK_SECONDS = 60;

const Claims = z.strictObject({
  agent: z.string().check(z.regex(AGENT_ID)),
  /** Epoch seconds. */
  exp: z.int(),
  for: z.string().check(z.minLength(1), z.maxLength(300)),
  nonce: z.string().check(z.minLength(8), z.maxLength(64)),
});
export type RelayClaims = z.infer<typeof Claims>;
export type RelayToken = SignedToken<RelayClaims>;

/** @param baseUrl the relay's address in the device's settings */
export function relayPlace(baseUrl: string): string {
  const { host, pathname } = new URL(baseUrl);
  return host + pathname.replace(/\/+$/, "");
}

/** Returns the first part of a token, which is to be signed. */
export function relayTokenBody(claims: RelayClaims): string {
  return tokenBody(claims);
}

export function relayTokenBytes(body: string): Uint8Array<ArrayBuffer> {
  return tokenBytes(DOMAIN, body);
}

/** @param now epoch ms @param place the relay that got the token; see `relayPlace` */
export function readRelayToken(token: string, place: string, now: number): Parsed<RelayToken> {
  const split = splitToken(Claims, token);
  if (!split) return wrong("it is no relay token");
  const left = split.claims.exp - now / 1_000;
  if (left <= 0) return wrong("it has expired, or the device's clock is behind");
  if (left > RELAY_TOKEN_SECONDS + CLOCK_SLACK_SECONDS)
    return wrong("it holds for longer than five minutes, or the device's clock is ahead");
  if (split.claims.for !== place) return wrong(`it is for another address than ${place}`);
  return { ok: true, value: split };
}
