/**
 * Why a reading changed, from the home's own record alone: the command that was under way then, with its person. It guesses no cause: any
 * other change is "not by edgecall".
 */
import { ENGLISH } from "@edgecall/core/phrases/phrases.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import { seesAll, type Viewer } from "../../../kernel/api/may-see.ts";
import { auditOf } from "../../../kernel/home/audit/audit-store.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { personText } from "../../../kernel/home/people/person-name.ts";

/** A device that was commanded reports the change within this time. */
const REPORTED_WITHIN_MS = 15_000;
/** The bridge's clock may differ by so much, and it keeps times to a second. */
const CLOCK_MS = 3_000;
/** A call may wait so long for a person's answer. */
const WAITED_MAX_MS = 30 * 60_000;
const LINES_MAX = 50;
const NAME_MAX = 60;

/** @param at when it changed (epoch ms) @returns one or two sentences for the model */
export function whyText(home: HomeContext, agent: string, at: number, zone: string, viewer: Viewer): string {
  const [since, until] = [at - WAITED_MAX_MS, at + CLOCK_MS].map((time) => new Date(time).toISOString());
  const lines = auditOf(home).find({ agent, since, until, limit: LINES_MAX });
  const line = lines.find((one) => isChange(one) && wasUnderWay(one, at));
  if (!line) return "Not by edgecall: a switch, another program, or the device itself.";
  const by = (principal: string) =>
    seesAll(viewer) || principal === viewer.name
      ? plainText(personText(home, { principal }), NAME_MAX)
      : "another person of the home";
  const { tool, caller, approval, timestamp } = line;
  const asked = ENGLISH.time(Date.parse(timestamp), zone, at);
  const allowed =
    approval?.permission !== undefined
      ? " It was allowed by a standing permission."
      : approval?.approved && approval.by !== undefined
        ? ` It was approved by ${by(approval.by)}.`
        : "";
  return `By edgecall: ${plainText(tool, NAME_MAX)}, asked for by ${by(caller.principal)} (${plainText(caller.channel, NAME_MAX)}) at ${asked}.${allowed}`;
}

function isChange({ tool, result }: AuditLine): boolean {
  return tool !== "read" && !tool.startsWith("snapshot") && result === "success";
}

/** True if the change came while its command was on its way, or shortly after. */
function wasUnderWay({ timestamp, approval, elapsed_ms }: AuditLine, at: number): boolean {
  const begun = Math.max(Date.parse(timestamp), approval ? Date.parse(approval.at) : 0);
  return at >= begun - CLOCK_MS && at <= begun + elapsed_ms + REPORTED_WITHIN_MS;
}
