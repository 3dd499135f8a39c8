/**
 * Which gateway, and the token that opens it: EDGECALL_URL and EDGECALL_TOKEN, else what `edgecall login` kept.
 *
 * The kept token goes to the kept address alone: with another EDGECALL_URL it would be given to a stranger.
 */
import { readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomicSync } from "@edgecall/node/atomic-write.ts";
import type { CommandCall } from "../command.ts";

export type Connection = {
  /** Without a slash at its end. */
  url: string;
  token: string;
  /** Where it stands, for whoever looks for a mistake. */
  from: string;
};

/** What a bearer token is made of (RFC 6750 §2.1), and its length, as the gateway has it. */
const TOKEN = /^[A-Za-z0-9._~+/=-]{16,256}$/;
const Kept = z.looseObject({ url: z.string(), token: z.string() });

const LOGIN = "run `edgecall login URL`, or set EDGECALL_URL and EDGECALL_TOKEN";

/** Below XDG_CONFIG_HOME, ~/.config unless set. */
export function configFile(env: CommandCall["env"]): string {
  const base = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), ".config");
  return join(base, "edgecall", "config.json");
}

/** @throws in words, with what to do */
export function readConnection(env: CommandCall["env"]): Connection {
  const file = configFile(env);
  const kept = readKept(file);
  const url = env.EDGECALL_URL ? gatewayUrl(env.EDGECALL_URL) : kept?.url;
  if (url === undefined) throw new Error(`no gateway is known here: ${LOGIN}`);
  const from = env.EDGECALL_URL ? "EDGECALL_URL" : file;
  if (env.EDGECALL_TOKEN) return { url, token: wellFormed(env.EDGECALL_TOKEN, "EDGECALL_TOKEN"), from };
  if (kept === undefined || kept.url !== url) {
    throw new Error(`no token for ${url} is known here: ${LOGIN}`);
  }
  return { url, token: wellFormed(kept.token, file), from };
}

/** @throws in words when it is no address of a gateway */
export function gatewayUrl(text: string): string {
  const isWhole = /^[a-z]+:\/\//i.test(text);
  const whole = isWhole ? text : `https://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  // `npm start` has no certificate.
  if (url && !isWhole && isLoopback(whole)) url.protocol = "http:";
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search) {
    throw new Error(`"${text}" is no gateway's address; expected e.g. https://edgecall.YOU.workers.dev`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** Whether a token sent there can be read on the way. */
export function isOpenlySent(url: string): boolean {
  return new URL(url).protocol === "http:" && !isLoopback(url);
}

/** A token as it may stand in a header. @throws in words */
export function wellFormed(token: string, where: string): string {
  const text = token.trim();
  if (TOKEN.test(text)) return text;
  throw new Error(`${where}: a token has 16 to 256 of A-Z a-z 0-9 . _ ~ + / = -`);
}

/** Readable by its owner alone from its first byte, and whole or not there at all. @returns the file */
export function keepConnection(env: CommandCall["env"], { url, token }: Omit<Connection, "from">): string {
  const file = configFile(env);
  writeAtomicSync(file, `${JSON.stringify({ url, token }, null, 2)}\n`);
  return file;
}

export function forgetConnection(env: CommandCall["env"]): string {
  const file = configFile(env);
  rmSync(file, { force: true });
  return file;
}

function readKept(file: string): { url: string; token: string } | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  const read = checkJson(Kept, text);
  if (!read.ok) throw new Error(`${file}: ${read.error}; run \`edgecall login URL\` again`);
  return { ...read.value, url: gatewayUrl(read.value.url) };
}
