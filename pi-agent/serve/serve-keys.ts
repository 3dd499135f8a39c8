/** The secrets of the HTTP backend's server: tokens by name, and its certificate. They are read once, at the agent's start. */
import { createHash, timingSafeEqual } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { messageOf } from "@edgecall/node/log.ts";
import type { ServeSettings } from "../config/serve-settings.ts";
import { AgentSettingsError } from "../config/settings.ts";

const TOKEN_MIN = 32;
const LINE = /^([a-z0-9][a-z0-9_-]{0,31})\s+([\x21-\x7e]{32,512})$/;
const MAX_TOKENS = 32;

export type ServeKeys = {
  tokens: ServeTokens;
  tls: { cert: Buffer; key: Buffer } | undefined;
};

/** @throws AgentSettingsError with the file and what would be right */
export async function readServeKeys({ tokenFile, tls }: ServeSettings): Promise<ServeKeys> {
  const tokens = ServeTokens.parse(await secretFile("token_file", tokenFile), tokenFile);
  if (!tls) return { tokens, tls: undefined };
  const [cert, key] = await Promise.all([
    readFile(tls.cert).catch((error: unknown) => unreadable("tls_cert", error)),
    secretFile("tls_key", tls.key),
  ]);
  return { tokens, tls: { cert, key: Buffer.from(key) } };
}

/** Reads a file that no other user of this machine may read: each of them reaches a loopback port. */
async function secretFile(key: string, path: string): Promise<string> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o004) !== 0)
      throw new AgentSettingsError([
        `serve.${key}: every user of this machine can read ${path}; chmod 600 it`,
      ]);
    return await readFile(path, "utf8");
  } catch (error) {
    return unreadable(key, error);
  }
}

function unreadable(key: string, error: unknown): never {
  if (error instanceof AgentSettingsError) throw error;
  throw new AgentSettingsError([`serve.${key}: cannot be read: ${messageOf(error)}`]);
}

export class ServeTokens {
  readonly #hashes: ReadonlyMap<string, Buffer>;

  private constructor(hashes: ReadonlyMap<string, Buffer>) {
    this.#hashes = hashes;
  }

  /**
   * Parses lines of a name and a token; empty lines and those that begin with `#` are left out.
   * @throws AgentSettingsError, which never quotes a token
   */
  static parse(text: string, file: string): ServeTokens {
    const hashes = new Map<string, Buffer>();
    for (const [index, line] of text.split("\n").entries()) {
      if (line.trim() === "" || line.startsWith("#")) continue;
      const [, name, token] = LINE.exec(line.trim()) ?? [];
      const wrong = (why: string) =>
        new AgentSettingsError([`serve.token_file: ${file}, line ${index + 1}: ${why}`]);
      if (name === undefined || token === undefined)
        throw wrong(
          `must be a name and a token of at least ${TOKEN_MIN} characters, e.g. of: openssl rand -hex 32`,
        );
      if (hashes.has(name)) throw wrong(`there is another token '${name}'`);
      hashes.set(name, hashOf(token));
    }
    if (hashes.size === 0 || hashes.size > MAX_TOKENS)
      throw new AgentSettingsError([`serve.token_file: ${file} must have 1 to ${MAX_TOKENS} tokens`]);
    return new ServeTokens(hashes);
  }

  /** Returns the name of the token in an `Authorization` header. */
  nameOf(authorization: string | undefined): string | undefined {
    const [, token = ""] = /^Bearer (\S{1,512})$/i.exec(authorization ?? "") ?? [];
    const hash = hashOf(token);
    let found: string | undefined;
    // Each is compared, so that the time tells nothing.
    for (const [name, known] of this.#hashes) if (timingSafeEqual(hash, known)) found = name;
    return found;
  }
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
