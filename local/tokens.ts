/** The local stack's two tokens and its key, made once and stored in a file that only the owner can read. */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { makeStateFolder, stateError } from "./state-folder.ts";

const TokensFile = z.object({ api: z.string(), bridge: z.string(), connections: z.optional(z.string()) });
export type Tokens = { api: string; bridge: string };
/** @property connections CONNECTIONS_KEY; with another key the stored secrets of chat apps cannot be decrypted */
export type KeptTokens = Tokens & { connections: string };

/** 256 bits, as text: nothing to guess. */
const TOKEN_BYTES = 32;

/**
 * @param given the API token that the person chose; it replaces the stored one
 * @throws with words for a person when the file can be neither read nor made
 */
export function loadTokens(dir: string, given: string | undefined): KeptTokens {
  makeStateFolder(dir);
  const file = join(dir, "tokens.json");
  const kept = readTokens(file);
  const made = { api: newToken(), bridge: newToken(), ...kept };
  const tokens = { ...made, connections: kept?.connections ?? newToken() };
  // Older files have no key.
  if (kept?.connections === undefined) {
    try {
      writeFileSync(file, `${JSON.stringify(tokens, null, 2)}\n`, { mode: 0o600 });
    } catch (error) {
      throw stateError(file, error);
    }
  }
  return { ...tokens, ...(given && { api: given }) };
}

/** A missing or damaged file is replaced: old tokens are lost, and chat apps must be connected again. */
function readTokens(file: string): z.infer<typeof TokensFile> | undefined {
  try {
    const read = checkJson(TokensFile, readFileSync(file, "utf8"));
    return read.ok ? read.value : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw stateError(file, error);
  }
}

export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/**
 * Returns the Worker's secrets for these tokens (worker/http/tokens.ts), which contain only hashes.
 * @param tokens.client for a program or a model's client, which can ask but never approve
 * @param of the tokens' home, and the name of the owner's token in logs
 */
export function tokenRecords(
  tokens: Tokens & { client?: string },
  { home, name } = { home: "home", name: "local" },
): { API_TOKENS: string; BRIDGE_TOKENS: string } {
  return {
    API_TOKENS: JSON.stringify([
      {
        hash: sha256(tokens.api),
        name,
        home,
        role: "owner",
        scopes: ["ask", "command", "approve", "admin"],
      },
      ...(tokens.client === undefined
        ? []
        : [{ hash: sha256(tokens.client), name: "client", home, role: "member", scopes: ["ask"] }]),
    ]),
    BRIDGE_TOKENS: JSON.stringify([{ hash: sha256(tokens.bridge), name: "bridge", home }]),
  };
}

/** Puts the stack's own records before the person's; both are valid. */
export function withOwnRecords(
  own: { API_TOKENS: string; BRIDGE_TOKENS: string },
  env: { API_TOKENS?: string | undefined; BRIDGE_TOKENS?: string | undefined },
): { API_TOKENS: string; BRIDGE_TOKENS: string } {
  const both = (name: "API_TOKENS" | "BRIDGE_TOKENS") =>
    JSON.stringify([...(readRecords(own[name]) ?? []), ...(readRecords(env[name]) ?? [])]);
  return { API_TOKENS: both("API_TOKENS"), BRIDGE_TOKENS: both("BRIDGE_TOKENS") };
}

/** The Worker checks each record's fields. @returns undefined when it is not a list of records */
export function readRecords(text: string | undefined): object[] | undefined {
  if (!text) return [];
  const read = checkJson(z.array(z.looseObject({ hash: z.string() })), text);
  return read.ok ? read.value : undefined;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
