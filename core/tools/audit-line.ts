/** Prepares a line of the record for storing: without secrets and within the size limit. */
import { AUDIT_LINE_MAX, type AuditLine } from "../protocol/audit.ts";
import { maskDeep } from "./secrets.ts";

/** Cuts parameters that are too long and says so in them. The other fields are short. */
export function auditLine(line: AuditLine, secrets: readonly string[]): AuditLine {
  const masked = maskDeep(line, secrets) as AuditLine;
  if (JSON.stringify(masked).length <= AUDIT_LINE_MAX) return masked;
  const text = JSON.stringify(masked.parameters) ?? "";
  return { ...masked, parameters: `${text.slice(0, AUDIT_LINE_MAX / 2)}… [cut: ${text.length} characters]` };
}
