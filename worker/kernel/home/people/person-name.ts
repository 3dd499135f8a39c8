/** Names a person as their chat app does, in place of its id. */

import { cutText } from "@edgecall/core/text/cut.ts";
import type { HomeContext } from "../context.ts";
import { sendersOf } from "./senders.ts";

const NAME_MAX = 64;
/** These show an id of their own in our words as the person's name. */
const SHOW_IDS_AS_NAMES = new Set(["discord", "slack"]);

/**
 * @param principal `channel:id`, or a token's name
 * @param given the name that came with what the person did
 * @returns undefined: the platform gave no name
 */
export function personName(
  home: HomeContext,
  principal: string,
  given: string | undefined,
): string | undefined {
  const stored = sendersOf(home)
    .senders()
    .find((one) => `${one.channel}:${one.sender}` === principal)?.name;
  return plainName(given) || plainName(stored) || undefined;
}

/** Names a person in words that go to several platforms. */
export function personText(
  home: HomeContext,
  { principal, displayName }: { principal: string; displayName?: string | undefined },
): string {
  if (SHOW_IDS_AS_NAMES.has(principal.split(":", 1)[0] ?? "")) return principal;
  return personName(home, principal, displayName) ?? principal;
}

/** A person chose the name: links and markup are removed. An id in Slack's form is no name. */
function plainName(name = ""): string {
  if (name.startsWith("<@")) return "";
  return cutText(name.replace(/[^\p{L}\p{N} @.'_-]/gu, "").trim(), NAME_MAX);
}
