/** `PUSH_SERVERS`: where messages of rules may go beside public https addresses. */
import { checkUrl } from "@edgecall/core/web/address.ts";
import type { Env } from "../../kernel/env.ts";
import { readOnce } from "../../kernel/settings/read-once.ts";

const ownServers = readOnce(({ PUSH_SERVERS }: Pick<Env, "PUSH_SERVERS">): ReadonlySet<string> => {
  const named = (PUSH_SERVERS ?? "").split(",").flatMap((one) => one.trim() || []);
  // An entry that is no address permits nothing.
  return new Set(named.flatMap((one) => (URL.canParse(one) ? new URL(one).origin : [])));
});

/** @returns whether the setting names the server of this address: it may be private, and without https */
export function isOwnServer(env: Env, url: URL): boolean {
  return ownServers(env).has(url.origin);
}

/** @returns the address without its fragment, or what would be right, in words that continue the field's name */
export function pushUrl(env: Env, text: string): { url: URL } | { problem: string } {
  if (URL.canParse(text) && isOwnServer(env, new URL(text))) return { url: new URL(text) };
  const checked = checkUrl(text);
  if (!checked.ok) return { problem: checked.problem };
  return checked.url.protocol === "https:" ? checked : { problem: "does not start with https://" };
}
