/** How a call of the record came to be allowed or refused, in words. Pure. */
import { visible } from "@edgecall/core/tools/visible.ts";
import type { AuditLine } from "./figures.ts";
import { dateText } from "./permission-text.ts";
import { EXPIRED, outcomeText } from "./person-text.ts";
import { locale, say } from "./texts/say.ts";

type Answered = Pick<AuditLine, "timestamp"> & { approval: NonNullable<AuditLine["approval"]> };

/** A person's answer within this time after the line's own is not told apart from it. */
const SAME_MS = 1_000;

/**
 * A call that ran under a permission was asked of nobody, so it has the permission's giver and date. An answer has its time where the line
 * has another.
 * @param me the principal who looks
 */
export function approvalText({ timestamp, approval }: Answered, me: string): string {
  const { approved, by, at, permission } = approval;
  if (permission !== undefined) return permissionText(by, Date.parse(at), me);
  if (by === undefined) return outcomeText({ answer: EXPIRED, by, me });
  const text = outcomeText({ answer: approved ? "approve" : "deny", by, me });
  const time = Date.parse(at);
  if (Number.isNaN(time) || Math.abs(time - Date.parse(timestamp)) < SAME_MS) return text;
  return `${text} (${new Date(time).toLocaleTimeString(locale(), { timeStyle: "medium" })})`;
}

function permissionText(by: string | undefined, at: number, me: string): string {
  if (by === undefined || Number.isNaN(at)) return say("byPermission");
  const date = dateText(at);
  return by === me ? say("byYourPermission", { date }) : say("byPermissionOf", { name: visible(by), date });
}
