/**
 * The token with which a paired bridge opens its socket: made of the bridge's key at each dial (signed-token.ts).
 *
 * `n` is the time when it was made and a counter in one: it has to be fresh, and higher than that of every token that
 * let this bridge in before. So what somebody recorded opens nothing, and cannot throw the true bridge out; and neither
 * side keeps a list. A bridge whose clock is wrong takes the gateway's, which stands in the refusal's Date, within
 * bounds (bridge/gateway/gateway-clock.ts).
 */
import { z } from "./parse.ts";
import { type SignedToken, splitToken, tokenBody, tokenBytes } from "./signed-token.ts";

/** Whose key the bridge's is, among those of the agents: no agent has such a name. */
export const BRIDGE = "@bridge";

/** A refusal after which another token may do: the clock was wrong, or this one was used. */
export const STALE_TOKEN = "stale_token";

/** Never shared with another use of the same key; raised when the form changes. */
const DOMAIN = "edgecall bridge token v1";
/** A slow line and a TLS handshake take seconds. */
const FRESH_MS = 60_000;
/** Small: as long as a clock that was ahead is put back by this much, the counter seems to have been used. */
export const TOKEN_AHEAD_MS = 5_000;

const Claims = z.strictObject({
  home: z.string().check(z.maxLength(64)),
  /** Host and port of the gateway as the bridge dials it: shown to another one, it is of no use here. */
  for: z.string().check(z.maxLength(300)),
  /** Epoch ms. */
  n: z.int(),
});
export type BridgeClaims = z.infer<typeof Claims>;
export type SignedBridgeToken = SignedToken<BridgeClaims>;

/** The first part of a token, to be signed. */
export function bridgeTokenBody(claims: BridgeClaims): string {
  return tokenBody(claims);
}

export function bridgeTokenBytes(body: string): Uint8Array<ArrayBuffer> {
  return tokenBytes(DOMAIN, body);
}

/** @returns undefined: it is none of this kind */
export function splitBridgeToken(token: string): SignedBridgeToken | undefined {
  return splitToken(Claims, token);
}

/** @param now epoch ms */
export function isFresh({ n }: BridgeClaims, now: number): boolean {
  return n > now - FRESH_MS && n < now + TOKEN_AHEAD_MS;
}
