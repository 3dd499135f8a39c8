/** A line of the record as it may be kept: without secrets, and no longer than a line may be. */
import { AUDIT_LINE_MAX, type AuditLine } from "../protocol/audit.ts";
import { maskDeep } from "./secrets.ts";

/** Parameters that are too long are cut, and say so; nothing else of a line is long. */
export function auditLine(line: AuditLine, secrets: readonly string[]): AuditLine {
  const masked = maskDeep(line, secrets) as AuditLine;
  if (JSON.stringify(masked).length <= AUDIT_LINE_MAX) return masked;
  const text = JSON.stringify(masked.parameters) ?? "";
  return { ...masked, parameters: `${text.slice(0, AUDIT_LINE_MAX / 2)}… [cut: ${text.length} characters]` };
}
