/**
 * Who may ask. This file decides all of it, so that it can be reviewed alone.
 *
 * A token is known by its SHA-256 only; the token itself is nowhere on our side. Its record names the home,
 * so a home is never taken from a path, a query or a body. Records stand in a secret, and in the home itself: a token
 * of those says which home to ask.
 */
import { check, type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import { homeOf } from "../api/objects.ts";
import type { Env } from "../env.ts";

export const HOME_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;

const Sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/, "expected the token's SHA-256 as 64 hex digits"));
const HomeId = z.string().check(z.regex(HOME_ID, "expected a home's id: a-z, 0-9 and -"));

/** `metrics`: figures for a scraper, and nothing else. */
export const SCOPES = ["ask", "command", "approve", "admin", "metrics"] as const;
export type Scope = (typeof SCOPES)[number];

const ApiTokenRecord = z.strictObject({
  hash: Sha256,
  /** Goes to logs and to the device as the caller's principal. */
  name: z.string().check(z.minLength(1), z.maxLength(64)),
  home: HomeId,
  role: z.enum(["owner", "member", "guest"]),
  scopes: z.array(z.enum(SCOPES)),
});
export type ApiToken = z.infer<typeof ApiTokenRecord> & {
  /** It was made in the console or by `edgecall tokens`, and Home keeps it; absent: it stands in API_TOKENS. */
  made?: { id: string; expiresAt: number | null };
};

const BridgeTokenRecord = z.strictObject({
  hash: Sha256,
  name: z.string().check(z.minLength(1), z.maxLength(64)),
  home: HomeId,
});
export type BridgeToken = z.infer<typeof BridgeTokenRecord>;

const ApiTokens = z.array(ApiTokenRecord).check(z.maxLength(1_000));
const BridgeTokens = z.array(BridgeTokenRecord).check(z.maxLength(1_000));

/** A secret that is missing or malformed; fails closed. */
export class AuthSettingsError extends Error {
  override readonly name = "AuthSettingsError";
}

/** A token that a home made: it names the home, so that no other one is asked. */
const HOME_TOKEN = /^ec_([a-z0-9][a-z0-9-]{0,62})_[A-Za-z0-9_-]{43}$/;
/** Hashes of tokens that counted when this isolate asked last: whoever has one of these is not guessing. */
const knownHashes = new Set<string>();
const KNOWN_MAX = 1_000;

export function newHomeToken(home: string): string {
  const random = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));
  return `ec_${home}_${random.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/**
 * The record of the request's bearer token, or undefined.
 * @param beforeWaking is called before a home is asked for a token that this isolate has not seen: it may be a guess
 * @throws AuthSettingsError
 */
export async function findApiToken(
  request: Request,
  env: Env,
  beforeWaking: () => Promise<void>,
): Promise<ApiToken | undefined> {
  const records = apiTokenRecords(env);
  const found = await findToken(request, records);
  if (found) return found;
  const text = bearerOf(request) ?? "";
  const home = HOME_TOKEN.exec(text)?.[1];
  if (home === undefined || !isNamedHome(env, home)) return undefined;
  const hash = Array.from(await digestOf(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (!knownHashes.has(hash)) await beforeWaking();
  // Asked each time: a token that was revoked opens nothing any more.
  const token = await homeOf(env, home).useToken({ hash });
  if (!token) knownHashes.delete(hash);
  else {
    if (knownHashes.size >= KNOWN_MAX) knownHashes.clear();
    knownHashes.add(hash);
  }
  return token;
}

/** Tells whether a token that opened a stream still counts: the stream ends with it. A token of the secret ends with a deploy, as every stream does. */
export async function isStillValid(env: Env, { home, made }: ApiToken): Promise<boolean> {
  return !made || (await homeOf(env, home).useToken({ id: made.id })) !== undefined;
}

/** All records, for what is bound to one of them: a session of the console. @throws AuthSettingsError */
export function apiTokenRecords(env: Env): ApiToken[] {
  return readRecords("API_TOKENS", env.API_TOKENS, ApiTokens);
}

/**
 * Tells whether the settings name this home. Every route that learns a home's name from a path, a body or a token's text asks
 * this before it wakes an object: to ask for a home would otherwise be to make one.
 * @throws AuthSettingsError
 */
export function isNamedHome(env: Env, home: string): boolean {
  if (apiTokenRecords(env).some((record) => record.home === home)) return true;
  // A gateway without a bridge has no such setting yet.
  return (
    (env.BRIDGE_TOKENS ?? "") !== "" &&
    readRecords("BRIDGE_TOKENS", env.BRIDGE_TOKENS, BridgeTokens).some((record) => record.home === home)
  );
}

/** The record of a bridge's bearer token, or undefined. @throws AuthSettingsError */
export function findBridgeToken(request: Request, env: Env): Promise<BridgeToken | undefined> {
  return findToken(request, readRecords("BRIDGE_TOKENS", env.BRIDGE_TOKENS, BridgeTokens));
}

/** The words of an error reach whoever asks, without a token: they name the field, and never quote. */
function readRecords<T>(name: string, text: string | undefined, schema: z.ZodMiniType<T[]>): T[] {
  if (!text)
    throw new AuthSettingsError(`${name} is not set: a JSON list of token records (see docs/settings.md)`);
  const records = readUnquoted(schema, text);
  if (!records.ok) throw new AuthSettingsError(`${name}: ${records.error}`);
  return records.value;
}

function readUnquoted<T>(schema: z.ZodMiniType<T>, text: string): Parsed<T> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own words quote the text, and somebody may have put the tokens themselves there.
    return { ok: false, error: "not JSON" };
  }
  return check(schema, value);
}

async function findToken<T extends { hash: string }>(
  request: Request,
  records: readonly T[],
): Promise<T | undefined> {
  const token = bearerOf(request);
  if (token === undefined) return undefined;
  const digest = await digestOf(token);
  let found: T | undefined;
  // Every record is compared, each in constant time: neither a prefix nor a position can be timed.
  for (const record of records)
    if (crypto.subtle.timingSafeEqual(digest, fromHex(record.hash))) found = record;
  return found;
}

/** RFC 6750 §2.1; the token in the URL (§2.3) is not accepted, since URLs end up in logs. */
function bearerOf(request: Request): string | undefined {
  return /^Bearer ([A-Za-z0-9._~+/=-]{16,256})$/i.exec(request.headers.get("authorization") ?? "")?.[1];
}

async function digestOf(token: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16),
  );
}
