/**
 * The web tools on a device. By setting only: they belong in the gateway, where there is no home network to
 * reach. Here every request goes through the guard, also the ones to the search services.
 */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { AllowedRanges } from "@edgecall/core/web/address.ts";
import { brave } from "@edgecall/core/web/brave.ts";
import { codesearch } from "@edgecall/core/web/codesearch.ts";
import { context7 } from "@edgecall/core/web/context7.ts";
import { webfetch } from "@edgecall/core/web/webfetch.ts";
import { websearch } from "@edgecall/core/web/websearch.ts";
import { guardedFetch, type Resolve, type WebBounds } from "./web-guard.ts";

export type WebSettings = {
  /** The owner's own bounds, beside public addresses: an empty list bounds nothing. */
  only?: WebBounds;
  /** Addresses that may be reached although they are not public; read by readAllowedRanges. */
  allowed?: AllowedRanges;
  brave?: { keys: readonly string[]; baseUrl?: string };
  codesearch?: { key?: string; baseUrl?: string };
};

/** webfetch and codesearch, and websearch where there is a key for it. */
export function webTools(settings: WebSettings = {}, resolve?: Resolve): Tool[] {
  const { allowed = [], only, brave: keyed, codesearch: docs = {} } = settings;
  const services = guardedFetch({ allowed, ...(resolve && { resolve }) });
  const pages = guardedFetch({ allowed, ...(only && { only }), ...(resolve && { resolve }) });
  return [
    webfetch({ fetch: pages, allowed }),
    codesearch({ search: context7({ ...docs, fetch: services }) }),
    ...(keyed && keyed.keys.length > 0 ? [websearch({ search: brave({ ...keyed, fetch: services }) })] : []),
  ];
}

/** Words on what websearch lacks, or undefined. */
export async function websearchMissing({ brave: keyed }: WebSettings): Promise<string | undefined> {
  if (keyed && keyed.keys.length > 0) return undefined;
  return "no key for the search service: get one at https://brave.com/search/api/ and set BRAVE_API_KEY";
}
