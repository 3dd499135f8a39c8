/** What the tools that reach the web from this device may reach, and the search services that they ask. */
import type { AllowedRanges } from "@edgecall/core/web/address.ts";

/** `*.example.org` is every name below example.org; a plain name is only that name. */
export type WebBounds = { domains: readonly string[]; ports: readonly number[] };

export type WebReach = {
  /** The part of the public web that the owner allows; an empty list limits nothing. */
  only?: WebBounds;
  /** Non-public addresses that the owner allows; see readAllowedRanges. */
  allowed?: AllowedRanges;
};

export type WebSettings = WebReach & {
  brave?: { keys: readonly string[]; baseUrl?: string };
  codesearch?: { key?: string; baseUrl?: string };
};
