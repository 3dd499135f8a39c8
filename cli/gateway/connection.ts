/**
 * The gateway's address and token: EDGECALL_URL and EDGECALL_TOKEN, else those that `edgecall login` stored, else those of the gateway that
 * `edgecall start` runs here.
 *
 * The stored token is sent to the stored address alone: another EDGECALL_URL may be a stranger's.
 */
import { readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomicSync } from "@edgecall/node/atomic-write.ts";
import { stateFolder } from "@edgecall/node/places.ts";
import { runningIn } from "@edgecall/node/running.ts";
import type { CommandCall } from "../command.ts";

export type Connection = {
  /** Without a slash at the end. */
  url: string;
  token: string;
  /** The source of the address, for error texts. */
  from: string;
  /** The file in which a gateway on this machine keeps its own token: it writes a new one there itself. */
  keptIn?: string;
};

/** The form of a bearer token (RFC 6750 §2.1), with the gateway's bounds for its length. */
const TOKEN = /^[A-Za-z0-9._~+/=-]{16,256}$/;
const OwnTokens = z.looseObject({ api: z.string() });
const Kept = z.looseObject({ url: z.string(), token: z.string() });

const LOGIN = "run `edgecall login URL`, or set EDGECALL_URL and EDGECALL_TOKEN";

/** The file, below XDG_CONFIG_HOME; default: ~/.config. */
function configFile(env: CommandCall["env"]): string {
  const base = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), ".config");
  return join(base, "edgecall", "config.json");
}

/** @throws with a text for a person that says what to do */
export function readConnection(env: CommandCall["env"]): Connection {
  const file = configFile(env);
  const stored = readStored(file);
  const here = env.EDGECALL_URL || stored ? undefined : runningHere(env);
  if (here) return here;
  const url = env.EDGECALL_URL ? gatewayUrl(env.EDGECALL_URL) : stored?.url;
  if (url === undefined)
    throw new Error(`no gateway runs here, and none is known: \`edgecall start\` starts one; else ${LOGIN}`);
  const from = env.EDGECALL_URL ? "EDGECALL_URL" : file;
  if (env.EDGECALL_TOKEN) return { url, token: wellFormed(env.EDGECALL_TOKEN, "EDGECALL_TOKEN"), from };
  if (stored === undefined || stored.url !== url) {
    throw new Error(`no token for ${url} is known here: ${LOGIN}`);
  }
  return { url, token: wellFormed(stored.token, file), from };
}

/** The gateway of `edgecall start`, and the token that is in its state folder; the demo's where the person's own home does not run. */
function runningHere(env: CommandCall["env"]): Connection | undefined {
  const own = stateFolder(env);
  for (const dir of [own, join(own, "demo")]) {
    const running = runningIn(dir);
    if (!running) continue;
    const { url } = running;
    const file = join(dir, "tokens.json");
    if (env.EDGECALL_TOKEN)
      return { url, token: wellFormed(env.EDGECALL_TOKEN, "EDGECALL_TOKEN"), from: dir };
    const read = checkJson(OwnTokens, readFileSync(file, "utf8"));
    if (read.ok) return { url, token: wellFormed(read.value.api, file), from: file, keptIn: file };
  }
  return undefined;
}

/** @throws with a text for a person when this is no gateway's address */
export function gatewayUrl(text: string): string {
  const isWhole = /^[a-z]+:\/\//i.test(text);
  const whole = isWhole ? text : `https://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  // `npm start` has no certificate, so http is allowed on this machine.
  if (url && !isWhole && isLoopback(whole)) url.protocol = "http:";
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search) {
    throw new Error(`"${text}" is no gateway's address; expected e.g. https://edgecall.YOU.workers.dev`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** True if a token sent to this address can be read on the way. */
export function isOpenlySent(url: string): boolean {
  return new URL(url).protocol === "http:" && !isLoopback(url);
}

/** Checks that a token can be sent in a header. @throws with a text for a person */
export function wellFormed(token: string, where: string): string {
  const text = token.trim();
  if (TOKEN.test(text)) return text;
  throw new Error(`${where}: a token has 16 to 256 of A-Z a-z 0-9 . _ ~ + / = -`);
}

/** Stores address and token in a file that only its owner can read at any moment. @returns the file */
export function keepConnection(
  env: CommandCall["env"],
  { url, token }: Pick<Connection, "url" | "token">,
): string {
  const file = configFile(env);
  writeAtomicSync(file, `${JSON.stringify({ url, token }, null, 2)}\n`);
  return file;
}

export function forgetConnection(env: CommandCall["env"]): string {
  const file = configFile(env);
  rmSync(file, { force: true });
  return file;
}

function readStored(file: string): { url: string; token: string } | undefined {
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
