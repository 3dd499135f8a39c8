/** Reminders, told at their times by the home's clock. */

import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { reminderText } from "@edgecall/core/rules/reminder-text.ts";
import { dueTimes, nextTime } from "@edgecall/core/rules/schedule.ts";
import type { RuleButton } from "../../../kernel/api/notices.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { sendNotice } from "../../../kernel/home/notices/hand-over.ts";
import { noticesOf } from "../../../kernel/home/notices/notice-store.ts";
import { roleNow } from "../../../kernel/home/people/roles.ts";
import { heldBy } from "./orphaned.ts";
import { nextRecipients, ownConversation, recipientsOf } from "./recipients.ts";
import { phrasesFor } from "./rule-languages.ts";
import type { ReminderRow } from "./rule-store.ts";
import { rulesOf } from "./rule-store.ts";
import { byText, noted } from "./send-notices.ts";

export function remindDue(home: HomeContext, now: number): void {
  for (const row of rulesOf(home).all())
    if (row.kind === "remind" && row.status === "active" && (row.due ?? Infinity) <= now && heldBy(home, row))
      remind(home, row, now);
}

/** The row of what is told is written with the reminder's next time: so each time is told once. */
function remind(home: HomeContext, row: ReminderRow, now: number): void {
  const rules = rulesOf(home);
  const { zone } = clockOf(home).read();
  const { rule, id, maker } = row;
  const { due, skipped } = dueTimes(zone, rule.schedule, row.handled, now);
  const next = nextTime(zone, rule.schedule, now);
  // The setting of the zone was changed since, and by this clock it is no time of the reminder.
  if (!due && skipped.length === 0 && next !== undefined) {
    rules.put({ ...row, due: next });
    return;
  }
  const occurrence = due?.at ?? now;
  const isOwn = row.to === null;
  rules.noteFiring(id, occurrence, occurrence, now);
  const { recipients, why } = recipientsOf(home, row);
  const conversation = ownConversation(home, maker);
  if (rule.do === "brief" && due && conversation !== null) {
    const { principal, limits, tainted } = maker;
    // Not more than the maker had, nor more than they have now.
    const role = roleNow(home, maker) === "owner" ? maker.role : "member";
    const { language } = rule;
    const by = { principal, role, ...(limits && { limits }), ...(language && { language }) };
    const brief = { id: `${id}:${occurrence}`, text: rule.text, tainted, rule: id, by };
    noticesOf(home).add({ id: brief.id, recipient: conversation, rule: id, tells: { brief }, madeAt: now });
  } else
    sendNotice(
      home,
      recipients,
      {
        id: `${id}:${occurrence}`,
        text:
          reminderText(rule, { due, skipped }, { zone, now }, phrasesFor(row)) + (isOwn ? "" : byText(row)),
        rules: [id],
        buttons: next === undefined || !isOwn ? [] : [stopButton(row, occurrence)],
        critical: false,
        at: now,
        sources: maker.tainted || !isOwn ? [STRANGER] : [],
        next: nextRecipients(home, row, recipients),
      },
      maker.conversation,
    );
  if (next === undefined) rules.remove(id);
  else rules.put({ ...noted(row, recipients, why, now), handled: now, due: next });
}

function stopButton(row: ReminderRow, occurrence: number): RuleButton {
  return { label: phrasesFor(row).say("stopReminder"), do: "stop", rule: row.id, occurrence };
}
