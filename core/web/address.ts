/**
 * Which addresses may be fetched: public unicast ones, and nothing else. A page, a redirect or a model may name
 * a router, a metadata service or this very machine; none of them is ever asked.
 *
 * A host's name says little: what it resolves to is judged where the connection is made (a device's
 * pi-agent/tools/web/web-guard.ts, or a runtime that reaches public addresses only).
 */
import ipaddr from "ipaddr.js";
import type { Parsed } from "../protocol/parse.ts";
import type { ErrorCode } from "../tools/errors.ts";

/** Addresses that the owner allows although they are not public: a fake-IP resolver's, say. */
export type AllowedRanges = ReadonlyArray<readonly [ipaddr.IPv4 | ipaddr.IPv6, number]>;

export type CheckedUrl = { ok: true; url: URL } | { ok: false; code: ErrorCode; problem: string };

export const URL_MAX_CHARS = 4_096;

/** Names that no public name server answers for (RFC 6761, 6762, 7686, 8375, 9476; ICANN's `internal`). */
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
/** Below it, other protocols listen than HTTP, and some of them would take a request for their own. */
const FIRST_FREE_PORT = 1_024;

/**
 * Reads the owner's list.
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

/** Whether a connection to this address is allowed. What is not an address is not. */
export function isAllowedAddress(text: string, allowed: AllowedRanges = []): boolean {
  const address = parseAddress(text);
  if (!address) return false;
  // A dual-stack socket reaches 10.0.0.1 by ::ffff:10.0.0.1 too, so a range holds for both ways to write it.
  const plain =
    address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
  if (allowed.some(([base, bits]) => base.kind() === plain.kind() && plain.match(base, bits))) return true;
  return plain instanceof ipaddr.IPv4 ? plain.range() === "unicast" : isPublicV6(plain);
}

/** Strict, other than the parser alone: it would take `127.1` and `0177.0.0.1`, and zones. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (text.includes("%") || !text.includes(":") || !ipaddr.IPv6.isValid(text)) return undefined;
  return ipaddr.IPv6.parse(text);
}

/** An address that carries IPv4 ones is as public as each of them: the packet may end up there. */
function isPublicV6(address: ipaddr.IPv6): boolean {
  const { parts } = address;
  const range = address.range();
  const carried: ipaddr.IPv4[] = [];
  const take = (at: number, flip = 0) =>
    carried.push(v4((parts[at] ?? 0) ^ flip, (parts[at + 1] ?? 0) ^ flip));
  // NAT64's well-known prefix (RFC 6052); the local one of RFC 8215 leads wherever its network wants.
  if (range === "rfc6052" && parts[2] === 0) take(6);
  // 6to4 (RFC 3056).
  else if (range === "6to4") take(1);
  // Teredo (RFC 4380): its server, and the client with all bits flipped.
  else if (range === "teredo") {
    take(2);
    take(6, 0xffff);
  } else if (range !== "unicast" || !isGlobal(parts[0] ?? 0)) return false;
  // ISATAP (RFC 5214): in the interface's half, whatever network that is in.
  if (((parts[4] ?? 0) & 0xfdff) === 0 && parts[5] === 0x5efe) take(6);
  return carried.every((one) => one.range() === "unicast");
}

/** 2000::/3 is all that was ever given out as global unicast; ::7f00:1, for one, is 127.0.0.1 of old. */
function isGlobal(first: number): boolean {
  return first >= 0x2000 && first <= 0x3fff;
}

function v4(high: number, low: number): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255]);
}

/**
 * Judges an address before anything is sent, and again at each redirect.
 *
 * @param base what a relative address starts from: the page that named it
 * @returns the URL without its fragment, or why not. The words never quote the address: it may hold a password.
 */
export function checkUrl(text: string, allowed: AllowedRanges = [], base?: URL): CheckedUrl {
  if (text.length > URL_MAX_CHARS)
    return refused("invalid_params", `is longer than ${URL_MAX_CHARS} characters`);
  // The parser makes one form of 0x7f.1, 2130706433, ①②⑦.0.0.1 and 127。0。0。1; the text is never judged.
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
  // A final dot would make another name of the same host, for certificates and for whoever compares.
  if (host !== url.hostname) url.hostname = host;
  url.hash = "";
  return { ok: true, url };
}

/** Tells by its name alone whether a host is this machine or one of a private network. */
export function isPrivateHost(host: string): boolean {
  return host !== "" && !isAllowedHost(host.replace(/\.$/, ""), []);
}

function isAllowedHost(host: string, allowed: AllowedRanges): boolean {
  if (host.startsWith("[")) return isAllowedAddress(host.slice(1, -1), allowed);
  if (ipaddr.IPv4.isValid(host)) return isAllowedAddress(host, allowed);
  // A name without a dot is one of this network: no public name is. Nor has one an empty part (`localhost..`).
  const parts = host.split(".");
  return (
    parts.length > 1 && !parts.includes("") && !PRIVATE_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`))
  );
}

function refused(code: ErrorCode, problem: string): CheckedUrl {
  return { ok: false, code, problem };
}
