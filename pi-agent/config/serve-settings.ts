/** `[serve]` of agent.toml: other agents may work in this agent's workspace over HTTP. */
import { isLoopback } from "../env/http/http-place.ts";

export type ServeSettings = {
  host: string;
  port: number;
  /** Its lines are a name and a token. */
  tokenFile: string;
  /** PEM files; undefined: without TLS, for this machine alone. */
  tls: { cert: string; key: string } | undefined;
  /** True if programs may be run. */
  exec: boolean;
  readOnly: boolean;
};

type Values = {
  enabled?: boolean | undefined;
  host?: string | undefined;
  port?: number | undefined;
  token_file?: string | undefined;
  exec?: boolean | undefined;
  read_only?: boolean | undefined;
  tls_cert?: string | undefined;
  tls_key?: string | undefined;
};

const HOST = "127.0.0.1";
const SERVE_PORT = 7443;

/** Returns what is wrong with the keys together, each with its name and what would be right. */
export function serveProblems(values: Values): string[] {
  const { enabled, host = HOST, token_file, exec, read_only, tls_cert, tls_key } = values;
  const problems: string[] = [];
  if ((tls_cert === undefined) !== (tls_key === undefined))
    problems.push("serve.tls_cert: give tls_cert and tls_key together, or neither");
  if (read_only === true && exec === true)
    problems.push("serve.exec: not beside read_only, since a program can write; take one of the two out");
  if (enabled !== true) return problems;
  if (token_file === undefined)
    problems.push(
      'serve.token_file: missing; right would be a file of tokens, e.g. token_file = "serve-tokens"',
    );
  if (tls_cert === undefined && !isLoopback(host))
    problems.push(
      `serve.host: "${host}" is not this machine alone, so the token would be readable on the way; give tls_cert and tls_key`,
    );
  return problems;
}

/** @param path makes a path of the file absolute; @returns undefined while it is off */
export function serveSettings(values: Values, path: (text: string) => string): ServeSettings | undefined {
  const {
    enabled,
    host = HOST,
    port = SERVE_PORT,
    token_file,
    exec,
    read_only = false,
    tls_cert,
    tls_key,
  } = values;
  if (enabled !== true || token_file === undefined) return undefined;
  return {
    host,
    port,
    tokenFile: path(token_file),
    tls: tls_cert && tls_key ? { cert: path(tls_cert), key: path(tls_key) } : undefined,
    exec: exec ?? !read_only,
    readOnly: read_only,
  };
}
