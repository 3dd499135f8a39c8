/**
 * The web tools on a device. They are off by default, because they belong in the gateway, which cannot reach a home
 * network. Here every request goes through the guard, including those to search services.
 */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { brave } from "@edgecall/core/web/brave.ts";
import { codesearch } from "@edgecall/core/web/codesearch.ts";
import { context7 } from "@edgecall/core/web/context7.ts";
import { webfetch } from "@edgecall/core/web/webfetch.ts";
import { websearch } from "@edgecall/core/web/websearch.ts";
import type { WebSettings } from "../../config/web-settings.ts";
import { guardedFetch, type Resolve } from "./web-guard.ts";

/** Returns webfetch and codesearch, and websearch if there is a key for it. */
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

/** Returns what websearch lacks, or undefined. */
export async function websearchMissing({ brave: keyed }: WebSettings): Promise<string | undefined> {
  if (keyed && keyed.keys.length > 0) return undefined;
  return "no key for the search service: get one at https://brave.com/search/api/ and set BRAVE_API_KEY";
}
