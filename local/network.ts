/** Where the gateway listens: HOST and TLS_*, read once, errors that name the field. */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { type Parsed, wrong } from "@edgecall/core/protocol/parse.ts";
import { ownAddress } from "@edgecall/node/own-address.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_TLS_PORT = 8443;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/;

export type Network = {
  host: string;
  tls: { port: number; cert: string; key: string } | undefined;
};

/** @returns undefined when only this machine is listened to */
export function readNetwork(env: Environment): Parsed<Network | undefined> {
  const host = env.HOST || "127.0.0.1";
  const hasTls = Boolean(env.TLS_CERT || env.TLS_KEY || env.TLS_PORT);
  if (LOOPBACK.test(host)) {
    if (hasTls)
      return wrong(
        "HOST: not set, though TLS_CERT or TLS_KEY is; HOST=0.0.0.0 opens the gateway to the network",
      );
    return { ok: true, value: undefined };
  }
  if (isIP(host) === 0)
    return wrong(`HOST: expected an address of this machine, or 0.0.0.0 for all of them, got '${host}'`);
  if (!hasTls) return { ok: true, value: { host, tls: undefined } };
  const port = Number(env.TLS_PORT || DEFAULT_TLS_PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    return wrong(`TLS_PORT: expected a number from 0 to 65535, got '${env.TLS_PORT}'`);
  const files: Record<string, string> = {};
  for (const name of ["TLS_CERT", "TLS_KEY"] as const) {
    const path = env[name];
    if (!path) return wrong(`${name}: not set; TLS needs the files of both, the certificate and its key`);
    try {
      files[name] = readFileSync(path, "utf8");
    } catch (error) {
      return wrong(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { ok: true, value: { host, tls: { port, cert: files.TLS_CERT ?? "", key: files.TLS_KEY ?? "" } } };
}

/**
 * Whether Telegram's messages are fetched: by default where Telegram cannot reach the gateway.
 * @param byDefault false: only TELEGRAM_POLLING=on
 */
export function readPolling(env: Environment, byDefault: boolean): Parsed<boolean> {
  const { TELEGRAM_POLLING: text, PUBLIC_URL: url } = env;
  if (text === "on" || text === "off") return { ok: true, value: text === "on" };
  if (text) return wrong(`TELEGRAM_POLLING: expected on or off, got '${text}'`);
  return { ok: true, value: byDefault && !url?.startsWith("https:") };
}

/** The gateway's address for other machines, unless PUBLIC_URL says another one; undefined: this machine is in no network. */
export function networkUrl({ host, tls }: Network, port: number, own = ownAddress()): string | undefined {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const address = isEverywhere ? own : isIP(host) === 6 ? `[${host}]` : host;
  if (address === undefined) return undefined;
  return tls ? `https://${address}:${tls.port}` : `http://${address}:${port}`;
}

/** Said at each start without TLS. */
export const PLAIN_WARNING =
  "WARNING: plain HTTP in this network: whoever can read its traffic reads the tokens. Set TLS_CERT and TLS_KEY, or let a proxy with TLS stand before it (docs/guides/home-without-cloudflare.md)";
