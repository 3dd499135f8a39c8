/**
 * The token with which a paired bridge opens its socket. The bridge signs a new one with its key at each dial
 * (signed-token.ts).
 *
 * `n` is both the time of making and a counter: it must be fresh, and higher than that of every token accepted from this
 * bridge before. A recorded token therefore opens nothing and cannot displace the bridge, and neither side keeps a list.
 * A bridge whose clock is wrong takes the gateway's time from the refusal's Date header, within bounds
 * (bridge/gateway/gateway-clock.ts).
 */
import { z } from "./parse.ts";
import { type SignedToken, splitToken, tokenBody, tokenBytes } from "./signed-token.ts";

/** The name of the bridge's key among the agents' keys; no agent can have this name. */
export const BRIDGE = "@bridge";

/** The refusal after which a new token may succeed: the clock was wrong, or the token was used before. */
export const STALE_TOKEN = "stale_token";

/** Separates this use of the key from all others. The version rises when the form changes. */
const DOMAIN = "edgecall bridge token v1";
/** Leaves time for a slow line and a TLS handshake, which take seconds. */
const FRESH_MS = 60_000;
/** Small, because after a fast clock is set back by this much, new counters look used until it has caught up. */
export const TOKEN_AHEAD_MS = 5_000;

const Claims = z.strictObject({
  home: z.string().check(z.maxLength(64)),
  /** Host and port of the gateway that the bridge dials. A token shown to another gateway is useless here. */
  for: z.string().check(z.maxLength(300)),
  /** Epoch ms. */
  n: z.int(),
});
export type BridgeClaims = z.infer<typeof Claims>;
export type SignedBridgeToken = SignedToken<BridgeClaims>;

/** Returns the first part of a token, which is to be signed. */
export function bridgeTokenBody(claims: BridgeClaims): string {
  return tokenBody(claims);
}

export function bridgeTokenBytes(body: string): Uint8Array<ArrayBuffer> {
  return tokenBytes(DOMAIN, body);
}

/** @returns undefined when it is not a token of this kind */
export function splitBridgeToken(token: string): SignedBridgeToken | undefined {
  return splitToken(Claims, token);
}

/** @param now epoch ms */
export function isFresh({ n }: BridgeClaims, now: number): boolean {
  return n > now - FRESH_MS && n < now + TOKEN_AHEAD_MS;
}
