/**
 * The only HTTP client of a device's web tools. It connects only to public addresses. The address of a name is checked in the
 * lookup of the connection itself, so the check and the socket always use the same address. It uses no proxy, whatever the
 * environment says, because a proxy would resolve names itself. Node's clients are loaded at the first use: an agent that fetches
 * nothing does without them.
 */
import type { LookupAddress } from "node:dns";
import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { pipeline, Readable } from "node:stream";
import type * as Zlib from "node:zlib";
import { type AllowedRanges, checkUrl, isAllowedAddress } from "@edgecall/core/web/address.ts";
import { RefusedAddress, type WebFetch } from "@edgecall/core/web/fetch-page.ts";
import type { WebBounds, WebReach } from "../../config/web-settings.ts";

export type Resolve = (host: string) => Promise<LookupAddress[]>;

/** @property resolve absent = the system's resolver */
export type GuardOptions = WebReach & { resolve?: Resolve };

/** @returns a `fetch` that follows no redirect, and rejects with RefusedAddress before it connects */
export function guardedFetch({ allowed = [], only, resolve = resolveAll }: GuardOptions = {}): WebFetch {
  const lookup = judged(resolve, allowed);
  return async (text, { method, headers, signal }) => {
    // Checked here as well as in the tool, because numeric addresses need no lookup.
    const checked = checkUrl(text, allowed);
    if (!checked.ok) throw new RefusedAddress(`the address ${checked.problem}`);
    const { url } = checked;
    const outside = only && boundOf(url, only);
    if (outside) throw new RefusedAddress(`${outside} ([tools.web] in agent.toml)`, "blocked");
    const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
    const answer = await new Promise<IncomingMessage>((settle, reject) => {
      // `agent: false` forces a new connection, since a pooled one was checked for another name.
      const options = {
        method,
        signal,
        lookup,
        agent: false,
        headers: { ...headers, ...ENCODINGS },
      } as const;
      request(url, options, settle).on("error", reject).end();
    });
    return responseOf(answer, await import("node:zlib"));
  };
}

/** Returns why an address is outside the owner's limits, or undefined. */
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
  const { lookup } = await import("node:dns/promises");
  return await lookup(host, { all: true });
}

/** Checks all addresses of a name; if one is private, the name is refused. */
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

/** Makes a Response with the two headers that are read, and without a body where the status forbids one. */
function responseOf(answer: IncomingMessage, zlib: typeof Zlib): Response {
  const { statusCode = 0, headers } = answer;
  if (statusCode < 200 || statusCode > 599) {
    answer.destroy();
    throw new Error(`no HTTP status: ${statusCode}`);
  }
  const passed = new Headers();
  for (const name of ["location", "content-type"] as const) {
    const value = headers[name];
    if (value !== undefined) passed.set(name, value);
  }
  const bare = statusCode === 204 || statusCode === 205 || statusCode === 304;
  if (bare) answer.resume();
  // SAFETY: both are declarations of the same ReadableStream.
  const body = bare
    ? null
    : (Readable.toWeb(unpacked(answer, zlib)) as unknown as ReadableStream<Uint8Array>);
  return new Response(body, { status: statusCode, headers: passed });
}

/** Decompresses the body. The reader counts the decompressed bytes, so a compression bomb ends at the same limit. */
function unpacked(answer: IncomingMessage, zlib: typeof Zlib): Readable {
  const unpack = UNPACK[answer.headers["content-encoding"]?.trim().toLowerCase() ?? ""]?.(zlib);
  // The reader sees a failure of either stream on the one that it reads.
  return unpack ? pipeline(answer, unpack, () => {}) : answer;
}

const UNPACK: Partial<Record<string, (zlib: typeof Zlib) => Zlib.Unzip>> = {
  gzip: (zlib) => zlib.createUnzip(),
  "x-gzip": (zlib) => zlib.createUnzip(),
  deflate: (zlib) => zlib.createInflate(),
  br: (zlib) => zlib.createBrotliDecompress(),
};
