/** All owners hear when a passkey is made, removed or looks copied. */

import { type Said, saidText } from "@edgecall/core/phrases/said-text.ts";
import type { RuleButton } from "../../api/notices.ts";
import { phrasesOf } from "../../phrases.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import { sendNotice } from "../notices/hand-over.ts";
import { ownersHear } from "../notices/owners.ts";

export async function notifyOwners(
  home: HomeContext,
  parts: Said[],
  buttons: RuleButton[] = [],
): Promise<void> {
  const now = Date.now();
  const { zone } = clockOf(home).read();
  const notice = {
    ...{ id: `passkey-${crypto.randomUUID()}`, text: saidText(parts, phrasesOf(), zone, now), rules: [] },
    ...{ said: { parts, zone }, buttons, critical: true, at: now },
  };
  sendNotice(home, ownersHear(home), notice, null);
  await home.alarm.arm();
}
