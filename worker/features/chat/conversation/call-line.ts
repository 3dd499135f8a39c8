/** A call of a turn as a line of a chat's list: the device as people call it, what was done, and how it ended. Pure. */
import { agentOfCall } from "@edgecall/core/loop/history.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { reportedText } from "@edgecall/core/phrases/reported-text.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { failedWithin } from "@edgecall/core/text/failed-within.ts";
import type { RosterAgent } from "../../../kernel/api/roster.ts";
import type { StoredCall } from "../../../kernel/conversation/store/rows.ts";

export type Named = Pick<RosterAgent, "id" | "name" | "hosted">;

/** @param agent the one that is called, where it is known @param note words beside a call that is not over */
export function callLine(
  call: Pick<StoredCall, "name" | "args" | "outcome">,
  agent: Named | undefined,
  phrases: Phrases,
  note = "",
): string {
  const { outcome } = call;
  const what = plain([nameText(call, agent), doneText(call, phrases)].filter(Boolean).join(" · "));
  if (!outcome) return `⏳ ${what}${note && ` (${plain(note)})`}`;
  if (outcome.asked === false) return `– ${what} (${outcome.elapsedMs} ms, called no tool)`;
  const inner = outcome.status === "success" ? failedWithin(outcome.calls) : undefined;
  if (inner !== undefined) return `✗ ${what} (${inner})`;
  // What was not run took no time.
  if (outcome.status !== "success" && outcome.errorType === "permission_denied") return `✗ ${what} (denied)`;
  return `${outcome.status === "success" ? "✓" : "✗"} ${what} (${outcome.elapsedMs} ms)`;
}

/** A device that has no name beside its id is called as its id says: "front-door" is the front door. */
function nameText(call: Pick<StoredCall, "args" | "outcome">, agent: Named | undefined): string {
  const id = agentOfCall(call);
  if (id === undefined || agent?.hosted !== true) return agent?.name ?? id ?? "";
  return agent.name ?? id.charAt(0).toUpperCase() + id.slice(1).replaceAll("-", " ");
}

/** The device's report, or what it is told. A question in words has its answer below. */
function doneText({ name, args, outcome }: Pick<StoredCall, "name" | "args" | "outcome">, phrases: Phrases) {
  const { reported = [], status } = outcome ?? {};
  if (status === "success" && reported.length > 0) return reportedText(reported, phrases);
  if (typeof args.query === "string") return "";
  if (typeof args.action !== "string") return name.replaceAll("_", " ");
  const { on } = (args.params ?? {}) as { on?: unknown };
  if (args.action.startsWith("set") && typeof on === "boolean") return phrases.value(on ? "on" : "off");
  return args.action.replaceAll("_", " ");
}

/** Without what a platform could take for markup. */
function plain(words: string): string {
  return cutText(words.replace(/[^\p{L}\p{M}\p{N} ·.,°%−/_-]/gu, ""), 80);
}
