/**
 * The only HTTP client of a device's web tools. It connects to public addresses alone: what a name resolves to
 * is judged in the look-up of the connection itself, so a name cannot mean one thing to the check and another
 * to the socket. No proxy is used, whatever the environment says: a proxy would resolve names by itself.
 */
import { promises as dns, type LookupAddress } from "node:dns";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { pipeline, Readable } from "node:stream";
import { createBrotliDecompress, createInflate, createUnzip } from "node:zlib";
import { type AllowedRanges, checkUrl, isAllowedAddress } from "@edgecall/core/web/address.ts";
import { RefusedAddress, type WebFetch } from "@edgecall/core/web/fetch-page.ts";

export type Resolve = (host: string) => Promise<LookupAddress[]>;

/** `*.example.org` is every name below example.org; a name alone is that name alone. */
export type WebBounds = { domains: readonly string[]; ports: readonly number[] };

export type GuardOptions = {
  /** What the owner allows of the public web; empty lists bound nothing. */
  only?: WebBounds;
  /** Addresses that the owner allows although they are not public. */
  allowed?: AllowedRanges;
  /** The system's resolver when absent. */
  resolve?: Resolve;
};

/** @returns a `fetch` that never follows a redirect; it rejects with RefusedAddress before it connects */
export function guardedFetch({ allowed = [], only, resolve = resolveAll }: GuardOptions = {}): WebFetch {
  const lookup = judged(resolve, allowed);
  return async (text, { method, headers, signal }) => {
    // Here too, and not only where the tool checks: a look-up is not made for an address in digits.
    const checked = checkUrl(text, allowed);
    if (!checked.ok) throw new RefusedAddress(`the address ${checked.problem}`);
    const { url } = checked;
    const outside = only && boundOf(url, only);
    if (outside) throw new RefusedAddress(`${outside} ([tools.web] in agent.toml)`, "blocked");
    const request = url.protocol === "https:" ? httpsRequest : httpRequest;
    const answer = await new Promise<IncomingMessage>((settle, reject) => {
      // `agent: false`: a connection of its own, since a kept one was judged for another name.
      const options = {
        method,
        signal,
        lookup,
        agent: false,
        headers: { ...headers, ...ENCODINGS },
      } as const;
      request(url, options, settle).on("error", reject).end();
    });
    return responseOf(answer);
  };
}

/** Why an address is outside the owner's bounds. */
export function boundOf(
  { hostname, port, protocol }: URL,
  { domains, ports }: WebBounds,
): string | undefined {
  const host = hostname.replace(/\.$/, "");
  const within = (domain: string) =>
    domain.startsWith("*.") ? host.endsWith(domain.slice(1)) : host === domain;
  if (domains.length > 0 && !domains.some(within))
    return `the owner allows these names alone: ${domains.join(", ")}`;
  const used = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  return ports.length === 0 || ports.includes(used)
    ? undefined
    : `the owner allows these ports alone: ${ports.join(", ")}`;
}

const ENCODINGS = { "accept-encoding": "gzip, deflate, br" };

export async function resolveAll(host: string): Promise<LookupAddress[]> {
  return await dns.lookup(host, { all: true });
}

/** All addresses of a name are judged: one private one among them, and the name is not asked at all. */
export function judged(resolve: Resolve, allowed: AllowedRanges): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses;
        if (!first) return callback(new Error(`no address for ${host}`), "");
        if (!addresses.every(({ address }) => isAllowedAddress(address, allowed)))
          return callback(new RefusedAddress("the name leads to a private or special address"), "");
        if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );
  };
}

/** A Response without a body where the status allows none, and with the two headers that are read. */
function responseOf(answer: IncomingMessage): Response {
  const { statusCode = 0, headers } = answer;
  if (statusCode < 200 || statusCode > 599) {
    answer.destroy();
    throw new Error(`no HTTP status: ${statusCode}`);
  }
  const kept = new Headers();
  for (const name of ["location", "content-type"] as const) {
    const value = headers[name];
    if (value !== undefined) kept.set(name, value);
  }
  const bare = statusCode === 204 || statusCode === 205 || statusCode === 304;
  if (bare) answer.resume();
  // SAFETY: two declarations of the one ReadableStream.
  const body = bare ? null : (Readable.toWeb(unpacked(answer)) as unknown as ReadableStream<Uint8Array>);
  return new Response(body, { status: statusCode, headers: kept });
}

/** Whoever reads counts what comes out, so a small body that unpacks to a huge one ends at the same limit. */
function unpacked(answer: IncomingMessage): Readable {
  const unpack = UNPACK[answer.headers["content-encoding"]?.trim().toLowerCase() ?? ""]?.();
  // A failure of either is the reader's to see, on the stream that it reads.
  return unpack ? pipeline(answer, unpack, () => {}) : answer;
}

const UNPACK: Partial<Record<string, () => ReturnType<typeof createUnzip>>> = {
  gzip: createUnzip,
  "x-gzip": createUnzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
