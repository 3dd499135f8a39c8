/** The local stack's two tokens and its key, made once and stored in files that only the owner can read. */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomicSync } from "@edgecall/node/atomic-write.ts";
import { makeStateFolder, stateError } from "./state-folder.ts";

/** `connections`: where 0.3.0 and older versions kept the key. */
const TokensFile = z.object({ api: z.string(), bridge: z.string(), connections: z.optional(z.string()) });
export type Tokens = { api: string; bridge: string };
/** @property connections CONNECTIONS_KEY; with another key the stored secrets of chat apps cannot be decrypted */
export type KeptTokens = Tokens & { connections: string };

/** 256 bits, as text: nothing to guess. */
const TOKEN_BYTES = 32;

/**
 * @param given the API token that the person chose; it replaces the stored one
 * @throws with words for a person when a file can be neither read nor made
 */
export function loadTokens(dir: string, given: string | undefined): KeptTokens {
  makeStateFolder(dir);
  const kept = readTokens(tokensFile(dir));
  const { api, bridge } = kept ?? { api: newToken(), bridge: newToken() };
  if (!kept) write(tokensFile(dir), tokensText({ api, bridge }));
  return { api: given ?? api, bridge, connections: connectionsKey(dir, kept?.connections) };
}

/** Writes nothing. @throws where this user may not read the tokens */
export function checkTokens(dir: string): void {
  readKept(tokensFile(dir));
}

/** The tokens that this machine's gateway accepts, and the only place that replaces one. */
export type OwnTokens = {
  /** The Worker's secrets for them, before the person's own records. */
  records(): { API_TOKENS: string; BRIDGE_TOKENS: string };
  /** Replaces the owner's token. Undefined where the person set it in EDGECALL_TOKEN. @returns the new one */
  rotate?(): string;
};

/** @throws as loadTokens does */
export function ownTokens(
  dir: string,
  given: string | undefined,
  env: { API_TOKENS?: string | undefined; BRIDGE_TOKENS?: string | undefined },
): OwnTokens {
  let { api, bridge } = loadTokens(dir, given);
  const rotate = () => {
    const next = newToken();
    write(tokensFile(dir), tokensText({ api: next, bridge }));
    api = next;
    return next;
  };
  return {
    records: () => withOwnRecords(tokenRecords({ api, bridge }), env),
    ...(given === undefined && { rotate }),
  };
}

/** @returns for startWorker; undefined where the person set the token */
export function rotating({ rotate, records }: OwnTokens) {
  return rotate && (() => ({ token: rotate(), vars: records() }));
}

const tokensFile = (dir: string) => join(dir, "tokens.json");
const tokensText = ({ api, bridge }: Tokens) => `${JSON.stringify({ api, bridge }, null, 2)}\n`;

/** The key has a file of its own, so new tokens leave the chat apps connected. @param older the key of an older version's file */
function connectionsKey(dir: string, older: string | undefined): string {
  const file = join(dir, "connections.key");
  const kept = readKept(file)?.trim();
  if (kept) return kept;
  const key = older ?? newToken();
  write(file, `${key}\n`);
  return key;
}

function write(file: string, text: string): void {
  try {
    writeAtomicSync(file, text);
  } catch (error) {
    throw stateError(file, error);
  }
}

/** A missing or damaged file is replaced: old tokens are lost. */
function readTokens(file: string): z.infer<typeof TokensFile> | undefined {
  const read = checkJson(TokensFile, readKept(file) ?? "");
  return read.ok ? read.value : undefined;
}

function readKept(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw stateError(file, error);
  }
}

export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/**
 * Returns the Worker's secrets for these tokens (worker/kernel/http/tokens.ts), which contain only hashes.
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

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
