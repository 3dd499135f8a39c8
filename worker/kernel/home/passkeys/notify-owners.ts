/** All owners hear when a passkey is made, removed or looks copied. */

import type { MessageKey } from "@edgecall/core/phrases/languages/phrase-data.ts";
import { type Said, saidText, say } from "@edgecall/core/phrases/said-text.ts";
import type { RuleButton } from "../../api/notices.ts";
import { phrasesOf } from "../../phrases.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import { sendNotice } from "../notices/hand-over.ts";
import { ownersHear } from "../notices/owners.ts";

/** @property says its label */
export type OwnersButton = Omit<RuleButton, "label"> & { says: MessageKey };

export async function notifyOwners(
  home: HomeContext,
  parts: Said[],
  buttons: readonly OwnersButton[] = [],
): Promise<void> {
  const now = Date.now();
  const { zone } = clockOf(home).read();
  const notice = {
    ...{ id: `passkey-${crypto.randomUUID()}`, text: saidText(parts, phrasesOf(), zone, now), rules: [] },
    buttons: buttons.map(({ says, ...button }) => ({ ...button, label: say(phrasesOf(), says) })),
    said: { parts, labels: buttons.map(({ says }) => says), zone },
    ...{ critical: true, at: now },
  };
  sendNotice(home, ownersHear(home), notice, null);
  await home.alarm.arm();
}
