/**
 * Which addresses an owner may set as that of a model. Model servers run at home, so a gateway at home may be sent there; a gateway on
 * Cloudflare reaches no home, and what a private name leads to there is not the owner's.
 */
import ipaddr from "ipaddr.js";
import type { Parsed } from "../protocol/parse.ts";
import { checkUrl, isPrivateHost } from "../web/address.ts";

/** The place of the gateway: `home` reaches this machine and its network; `cloudflare` public addresses alone. */
export type Reach = "home" | "cloudflare";

const MAX_CHARS = 500;
const AZURE_VERSION = "api-version";
/** Alibaba's and Amazon's, in ranges that homes use, too. */
const METADATA = /^(100\.100\.100\.200$|fd00:ec2::)/;
/** Addresses at which a machine in a cloud tells its secrets, and reserved ones. */
const NEVER = ["linkLocal", "unspecified", "broadcast", "multicast", "reserved"];

/** @returns the address as it is stored, without a slash at its path's end */
export function checkModelAddress(text: string, reach: Reach): Parsed<string> {
  const typed = text.trim();
  const url = typed.length <= MAX_CHARS && URL.canParse(typed) ? new URL(typed) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    return wrong("an address such as http://192.168.1.20:11434/v1");
  if (url.username !== "" || url.password !== "")
    return wrong("an address without a user; the key is a field of its own");
  // Page, record and back-up show the address.
  if ([...url.searchParams].some(([name]) => name !== AZURE_VERSION))
    return wrong("an address without a query (only Azure's api-version); the key is a field of its own");
  if (url.hash !== "") return wrong("an address without '#'");
  if (isNever(url.hostname))
    return wrong("an address of a machine; this one is of no machine, or special in a cloud");
  if (!isPrivateHost(url.hostname)) {
    if (url.protocol !== "https:")
      return wrong("https for an address in the internet: a key and your questions go there");
    const checked = checkUrl(typed);
    if (!checked.ok) return wrong(`another address: this one ${checked.problem}`);
  } else if (reach === "cloudflare")
    return wrong("a public https address: a gateway on Cloudflare does not reach your home's network");
  const path = url.pathname.replace(/\/+$/, "");
  return { ok: true, value: `${url.origin}${path === "" ? "/v1" : path}${url.search}` };
}

function isNever(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (/(^|\.)metadata\.google\.internal$/.test(bare)) return true;
  if (!ipaddr.isValid(bare)) return false;
  const address = ipaddr.process(bare);
  return NEVER.includes(address.range()) || METADATA.test(address.toString());
}

function wrong(expected: string): { ok: false; error: string } {
  return { ok: false, error: `base_url: expected ${expected}` };
}
