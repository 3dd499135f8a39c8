/** The button of a message outside the conversations, by its link. */

import type { Viewer } from "../../../kernel/api/may-see.ts";
import type { Pressed } from "../../../kernel/api/notices.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { isPasskeyButton } from "../../../kernel/home/passkeys/registrations.ts";
import { outcomeText } from "../../../kernel/home/questions/outcome-text.ts";
import { pressNotice } from "../../../kernel/home/rpc/notices.ts";
import { answerAs } from "../../../kernel/home/rpc/questions.ts";
import type { LinkedAnswer, PressClaims } from "../contract.ts";
import { viewerOf } from "./subscription-access.ts";
import { subscriptionStoreOf } from "./subscription-store.ts";

/** @returns undefined: the link was used, its topic was removed, or the person who turned it on has no access any more */
export async function pressLinked(home: HomeContext, claims: PressClaims): Promise<Pressed | undefined> {
  const now = Date.now();
  const row = subscriptionStoreOf(home).get(claims.outlet);
  const viewer = row && viewerOf(home, row, now);
  if (!viewer) return undefined;
  if ("question" in claims) return await answerLinked(home, claims, viewer, now);
  if (!isFirstUse(home, claims, now)) return undefined;
  const { outlet, do: what, rule, occurrence } = claims;
  const by = {
    principal: viewer.name,
    role: isPasskeyButton(rule) ? viewer.role : "member",
    conversation: outlet,
  } as const;
  return await pressNotice(home, { do: what, rule, occurrence, by });
}

/** A press too many, or too late, shows what happened. */
async function answerLinked(
  home: HomeContext,
  claims: PressClaims & LinkedAnswer,
  viewer: Viewer,
  now: number,
): Promise<Pressed | undefined> {
  const { question, answer } = claims;
  const before = outcomeText(home, question);
  if (before !== undefined) return { done: false, text: before };
  if (!isFirstUse(home, claims, now)) return undefined;
  const answered = await answerAs(home, question, answer, viewer, { by: "notification" });
  const text = outcomeText(home, question) ?? (answered.ok ? "" : answered.message);
  return { done: answered.ok, text };
}

function isFirstUse(home: HomeContext, { once, until }: PressClaims, now: number): boolean {
  return subscriptionStoreOf(home).useLink(once, until, now);
}
