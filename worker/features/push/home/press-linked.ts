/** The button of a message outside the conversations, by its link. */

import type { Pressed } from "../../../kernel/api/notices.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { pressButton } from "../../../kernel/home/notices/press.ts";
import type { PressClaims } from "../contract.ts";
import { hasAccess } from "./subscription-access.ts";
import { subscriptionStoreOf } from "./subscription-store.ts";

/** @returns undefined: the link was used, its topic was removed, or the person who turned it on has no access any more */
export async function pressLinked(
  home: HomeContext,
  { outlet, once, until, do: what, rule, occurrence }: PressClaims,
): Promise<Pressed | undefined> {
  const now = Date.now();
  const row = subscriptionStoreOf(home).get(outlet);
  if (!row || !hasAccess(home, row, now) || !subscriptionStoreOf(home).useLink(once, until, now))
    return undefined;
  const by = { principal: row.principal, role: "member", conversation: outlet } as const;
  return await pressButton(home, { do: what, rule, occurrence, by });
}
