/**
 * Decides which addresses may be fetched: only public unicast ones. A page, a redirect or a model may name a router, a
 * metadata service or this machine; none of them is ever contacted.
 *
 * A host name is not enough: the address that it resolves to is checked where the connection is made (a device's
 * pi-agent/tools/web/web-guard.ts, or a runtime that reaches only public addresses).
 */
import ipaddr from "ipaddr.js";
import type { Parsed } from "../protocol/parse.ts";
import type { ErrorCode } from "../tools/errors.ts";

/** Non-public addresses that the owner allows, for example those of a fake-IP resolver. */
export type AllowedRanges = ReadonlyArray<readonly [ipaddr.IPv4 | ipaddr.IPv6, number]>;

export type CheckedUrl = { ok: true; url: URL } | { ok: false; code: ErrorCode; problem: string };

export const URL_MAX_CHARS = 4_096;

/** Names that no public name server resolves (RFC 6761, 6762, 7686, 8375, 9476; ICANN's `internal`). */
const PRIVATE_SUFFIXES = [
  "localhost",
  "local",
  "internal",
  "home.arpa",
  "lan",
  "home",
  "corp",
  "intranet",
  "test",
  "invalid",
  "onion",
  "alt",
];
/** Lower ports serve other protocols than HTTP, and some of them would accept a request as their own. */
const FIRST_FREE_PORT = 1_024;

/**
 * Reads the owner's list of allowed ranges.
 * @param entries addresses or CIDR ranges: `198.18.0.0/15`, `fd00::1`
 * @returns an error that names the entry
 */
export function readAllowedRanges(entries: readonly string[]): Parsed<AllowedRanges> {
  const ranges: Array<readonly [ipaddr.IPv4 | ipaddr.IPv6, number]> = [];
  for (const entry of entries) {
    const range = rangeOf(entry.trim());
    if (!range)
      return { ok: false, error: `expected an IP address or a range like 198.18.0.0/15, got '${entry}'` };
    ranges.push(range);
  }
  return { ok: true, value: ranges };
}

function rangeOf(entry: string): readonly [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  const [text = "", bits, ...more] = entry.split("/");
  const address = parseAddress(text);
  if (!address || more.length > 0) return undefined;
  const all = address.kind() === "ipv4" ? 32 : 128;
  if (bits === undefined) return [address, all];
  return /^\d{1,3}$/.test(bits) && Number(bits) <= all ? [address, Number(bits)] : undefined;
}

/** Whether a connection to this address is allowed. A text that is not an address is refused. */
export function isAllowedAddress(text: string, allowed: AllowedRanges = []): boolean {
  const address = parseAddress(text);
  if (!address) return false;
  // A dual-stack socket also reaches 10.0.0.1 as ::ffff:10.0.0.1, so a range applies to both forms.
  const plain =
    address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
  if (allowed.some(([base, bits]) => base.kind() === plain.kind() && plain.match(base, bits))) return true;
  return plain instanceof ipaddr.IPv4 ? plain.range() === "unicast" : isPublicV6(plain);
}

/** Stricter than the parser alone, which would accept `127.1`, `0177.0.0.1` and zones. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (text.includes("%") || !text.includes(":") || !ipaddr.IPv6.isValid(text)) return undefined;
  return ipaddr.IPv6.parse(text);
}

/** An address that embeds IPv4 addresses is public only if each of them is, since the packet may end up there. */
function isPublicV6(address: ipaddr.IPv6): boolean {
  const { parts } = address;
  const range = address.range();
  const carried: ipaddr.IPv4[] = [];
  const take = (at: number, flip = 0) =>
    carried.push(v4((parts[at] ?? 0) ^ flip, (parts[at + 1] ?? 0) ^ flip));
  // NAT64's well-known prefix (RFC 6052). The local prefix of RFC 8215 may lead anywhere, so it is refused.
  if (range === "rfc6052" && parts[2] === 0) take(6);
  // 6to4 (RFC 3056).
  else if (range === "6to4") take(1);
  // Teredo (RFC 4380): its server, and the client with all bits flipped.
  else if (range === "teredo") {
    take(2);
    take(6, 0xffff);
  } else if (range !== "unicast" || !isGlobal(parts[0] ?? 0)) return false;
  // ISATAP (RFC 5214): in the interface half, in any network.
  if (((parts[4] ?? 0) & 0xfdff) === 0 && parts[5] === 0x5efe) take(6);
  return carried.every((one) => one.range() === "unicast");
}

/** Only 2000::/3 was ever assigned as global unicast. ::7f00:1, for example, is an old form of 127.0.0.1. */
function isGlobal(first: number): boolean {
  return first >= 0x2000 && first <= 0x3fff;
}

function v4(high: number, low: number): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255]);
}

/**
 * Checks an address before a request is sent, and again at each redirect.
 * @param base the page that named the address, from which a relative one is resolved
 * @returns the URL without its fragment, or why it is refused. The text never quotes the address, as it may hold a password.
 */
export function checkUrl(text: string, allowed: AllowedRanges = [], base?: URL): CheckedUrl {
  if (text.length > URL_MAX_CHARS)
    return refused("invalid_params", `is longer than ${URL_MAX_CHARS} characters`);
  // The parser normalises 0x7f.1, 2130706433, ①②⑦.0.0.1 and 127。0。0。1; the raw text is never checked.
  const url = URL.canParse(text, base?.href) ? new URL(text, base?.href) : undefined;
  if (!url) return refused("invalid_params", "is not an absolute web address like https://example.com/page");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return refused("unsupported_scheme", "starts with something else than http:// or https://");
  if (url.username !== "" || url.password !== "")
    return refused("invalid_params", "holds a user name or password, which are never sent");
  const host = url.hostname.replace(/\.$/, "");
  if (!isAllowedHost(host, allowed))
    return refused("private_address", "leads to a private or special address, which is never fetched");
  if (url.port !== "" && Number(url.port) < FIRST_FREE_PORT && url.port !== "80" && url.port !== "443")
    return refused("blocked", `has a port other than 80, 443 or one from ${FIRST_FREE_PORT} on`);
  // A final dot makes a second name of the same host, which breaks certificates and comparisons.
  if (host !== url.hostname) url.hostname = host;
  url.hash = "";
  return { ok: true, url };
}

/** Tells from its name alone whether a host is this machine or in a private network. */
export function isPrivateHost(host: string): boolean {
  return host !== "" && !isAllowedHost(host.replace(/\.$/, ""), []);
}

function isAllowedHost(host: string, allowed: AllowedRanges): boolean {
  if (host.startsWith("[")) return isAllowedAddress(host.slice(1, -1), allowed);
  if (ipaddr.IPv4.isValid(host)) return isAllowedAddress(host, allowed);
  // No public name lacks a dot or has an empty part (`localhost..`).
  const parts = host.split(".");
  return (
    parts.length > 1 &&
    !parts.includes("") &&
    !PRIVATE_SUFFIXES.some((suffix) => `.${host}`.endsWith(`.${suffix}`))
  );
}

function refused(code: ErrorCode, problem: string): CheckedUrl {
  return { ok: false, code, problem };
}
