/** `API_TOKENS` and `BRIDGE_TOKENS`: the records of tokens. http/tokens.ts finds the record of a request. */

import { check, type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import type { Env } from "../env.ts";
import { readOnce } from "./read-once.ts";

export const HOME_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;

const Sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/, "expected the token's SHA-256 as 64 hex digits"));

const HomeId = z.string().check(z.regex(HOME_ID, "expected a home's id: a-z, 0-9 and -"));

/** `metrics` permits figures for a scraper, and nothing else. */
export const SCOPES = ["ask", "command", "approve", "admin", "metrics"] as const;

export type Scope = (typeof SCOPES)[number];

const ApiTokenRecord = z.strictObject({
  hash: Sha256,
  /** Logs and devices get the name as the caller's principal. */
  name: z.string().check(
    z.minLength(1),
    z.maxLength(64),
    z.refine(
      (name) => !/^(agent|home):/.test(name),
      "expected another name: devices and other homes have 'agent:' and 'home:' before theirs",
    ),
  ),
  home: HomeId,
  role: z.enum(["owner", "member", "guest"]),
  scopes: z.array(z.enum(SCOPES)),
});

export type ApiToken = z.infer<typeof ApiTokenRecord> & {
  /** For a token that was made in the console or by `edgecall tokens`, which Home stores. Absent for a token of API_TOKENS. */
  made?: {
    id: string;
    expiresAt: number | null;
    /** A session that no passkey confirmed made it. A program in a person's browser can do that, so it shows no more than a session. */
    bySession?: true;
  };
  /**
   * For the token of a program that a person connected over OAuth. `trusted`: it reads no strangers' texts; `mayGrow`: its person
   * has a scope that it could be given.
   */
  grant?: { id: string; client: string; trusted: boolean; mayGrow: boolean };
};

const BridgeTokenRecord = z.strictObject({
  hash: Sha256,
  name: z.string().check(z.minLength(1), z.maxLength(64)),
  home: HomeId,
});

export type BridgeToken = z.infer<typeof BridgeTokenRecord>;

const ApiTokens = z.array(ApiTokenRecord).check(z.maxLength(1_000));

const BridgeTokens = z.array(BridgeTokenRecord).check(z.maxLength(1_000));

/** A secret is missing or malformed. Then no request is accepted. */
export class AuthSettingsError extends Error {
  override readonly name = "AuthSettingsError";
}

/** @throws AuthSettingsError */
export const apiTokenRecords = readOnce((env: Env): readonly ApiToken[] =>
  readRecords("API_TOKENS", env.API_TOKENS, ApiTokens),
);

/** @throws AuthSettingsError */
const bridgeTokenRecords = readOnce((env: Env): readonly BridgeToken[] =>
  readRecords("BRIDGE_TOKENS", env.BRIDGE_TOKENS, BridgeTokens),
);

/** The records by their hashes. @throws AuthSettingsError */
export const apiTokensByHash = readOnce((env: Env) => byHash(apiTokenRecords(env)));

/** The records by their hashes. @throws AuthSettingsError */
export const bridgeTokensByHash = readOnce((env: Env) => byHash(bridgeTokenRecords(env)));

/** The homes that a record names. @throws AuthSettingsError */
const apiHomes = readOnce((env: Env) => homesOf(apiTokenRecords(env)));

/** The homes that a record names; none where a gateway has no bridge yet. @throws AuthSettingsError */
const bridgeHomes = readOnce((env: Env) =>
  homesOf((env.BRIDGE_TOKENS ?? "") === "" ? [] : bridgeTokenRecords(env)),
);

/**
 * Every route that takes a home's name from a path, a body or a token's text calls this before it wakes an object: asking for an
 * unknown home would create it.
 * @returns true when the settings name this home
 * @throws AuthSettingsError
 */
export function isNamedHome(env: Env, home: string): boolean {
  return apiHomes(env).has(home) || bridgeHomes(env).has(home);
}

/** Every home that the settings name. @throws AuthSettingsError */
export function namedHomes(env: Env): string[] {
  return [...new Set([...apiHomes(env), ...bridgeHomes(env)])];
}

function homesOf(records: ReadonlyArray<{ home: string }>): ReadonlySet<string> {
  return new Set(records.map(({ home }) => home));
}

function byHash<T extends { hash: string }>(records: readonly T[]): ReadonlyMap<string, T> {
  return new Map(records.map((record) => [record.hash, record]));
}

/** Callers without a token see the error, so it names the field and never quotes. */
function readRecords<T>(name: string, text: string | undefined, schema: z.ZodMiniType<T[]>): T[] {
  if (!text)
    throw new AuthSettingsError(
      `${name} is not set: a JSON list of token records (see docs/reference/settings.md)`,
    );
  const records = readUnquoted(schema, text);
  if (!records.ok) throw new AuthSettingsError(`${name}: ${records.error}`);
  return records.value;
}

function readUnquoted<T>(schema: z.ZodMiniType<T>, text: string): Parsed<T> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may contain the tokens themselves by mistake.
    return { ok: false, error: "not JSON" };
  }
  return check(schema, value);
}

/** Names a token's record in lists and grants. A part of the hash does not reveal the token, and tells any two apart. */
export function recordId({ hash, made }: Pick<ApiToken, "hash" | "made">): string {
  return made?.id ?? `${SECRET_RECORD}${hash.slice(0, 16)}`;
}

/** Before the ids of the records in API_TOKENS. */
export const SECRET_RECORD = "secret-";
