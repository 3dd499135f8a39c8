/** All owners hear when a passkey is made, removed or looks copied. */

import type { RuleButton } from "../../api/notices.ts";
import type { HomeContext } from "../context.ts";
import { sendNotice } from "../notices/hand-over.ts";
import { ownersHear } from "../notices/owners.ts";

export async function notifyOwners(
  home: HomeContext,
  text: string,
  buttons: RuleButton[] = [],
): Promise<void> {
  const now = Date.now();
  const notice = { id: `passkey-${crypto.randomUUID()}`, text, rules: [], buttons, critical: true, at: now };
  sendNotice(home, ownersHear(home), notice, null);
  await home.alarm.arm();
}
