/**
 * The token of a request from one home to another (worker/features/lending/home). The asking home signs it with its gateway key, for five
 * minutes (signed-token.ts). It names the request's place and the hash of its body, so it is of no use for any other request.
 */
import { sha256Hex } from "../encoding.ts";
import { UUID } from "./names.ts";
import { z } from "./parse.ts";
import { type SignedToken, splitToken, tokenBody, tokenBytes } from "./signed-token.ts";

/** Separates this use of the key from all others. The version rises when the form changes. */
const DOMAIN = "edgecall peer token v1";
const LENDING_TOKEN_SECONDS = 300;
/** The other home's clock may be so far ahead. */
const CLOCK_SLACK_SECONDS = 60;

const Claims = z.strictObject({
  grant: z.string().check(z.regex(UUID)),
  /** The side of the grant that asks. */
  from: z.enum(["lender", "borrower"]),
  /** See `lendingPlace`. */
  for: z.string().check(z.minLength(1), z.maxLength(300)),
  /** Epoch seconds. */
  exp: z.int(),
  /** SHA-256 of the body, hex. */
  body: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
});
type LendingClaims = z.infer<typeof Claims>;
export type LendingToken = SignedToken<LendingClaims>;

/** @param origin of the gateway that is asked; "": both homes are at the same gateway @returns `host/v1/peer/home/kind` */
export function lendingPlace(origin: string, home: string, kind: string): string {
  return `${origin === "" ? "" : new URL(origin).host}/v1/peer/${home}/${kind}`;
}

/** Returns the first part of a token, which is to be signed. @param now epoch ms */
export async function lendingTokenBody(
  claims: Pick<LendingClaims, "grant" | "from" | "for">,
  body: string,
  now: number,
): Promise<string> {
  const exp = Math.floor(now / 1_000) + LENDING_TOKEN_SECONDS;
  return tokenBody({ ...claims, exp, body: await sha256Hex(body) });
}

export function lendingTokenBytes(body: string): Uint8Array<ArrayBuffer> {
  return tokenBytes(DOMAIN, body);
}

/**
 * Checks everything but the signature, which takes the other home's key.
 * @param now epoch ms
 * @returns undefined: it is wrong, too old, or for another body
 */
export async function readLendingToken(
  token: string,
  body: string,
  now: number,
): Promise<LendingToken | undefined> {
  const split = splitToken(Claims, token);
  if (!split) return undefined;
  const left = split.claims.exp - now / 1_000;
  if (left <= 0 || left > LENDING_TOKEN_SECONDS + CLOCK_SLACK_SECONDS) return undefined;
  return split.claims.body === (await sha256Hex(body)) ? split : undefined;
}
