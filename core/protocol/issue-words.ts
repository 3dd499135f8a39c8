/**
 * Words for what is wrong with a value: those of zod's English texts, for the schemas that edgecall has. All of zod's are 1 KiB gzip, and
 * their formats (addresses, cards, tokens) are never asked for.
 */
import type { core } from "zod/mini";

const UNITS: Readonly<Record<string, string>> = { string: "characters", array: "items", map: "entries" };

/** @returns for example `Too big: expected string to have <=5 characters` */
export function issueWords(issue: core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `Invalid input: expected ${issue.expected}, received ${typeName(issue.input)}`;
    case "invalid_value":
      return issue.values.length === 1
        ? `Invalid input: expected ${quoted(issue.values[0])}`
        : `Invalid option: expected one of ${issue.values.map(quoted).join("|")}`;
    case "too_big":
      return `Too big: ${bound(issue, issue.inclusive ? "<=" : "<", issue.maximum)}`;
    case "too_small":
      return `Too small: ${bound(issue, issue.inclusive ? ">=" : ">", issue.minimum)}`;
    case "invalid_format":
      return `Invalid string: must match pattern ${issue.pattern}`;
    case "unrecognized_keys":
      return `Unrecognized key${issue.keys.length > 1 ? "s" : ""}: ${issue.keys.map(quoted).join(", ")}`;
    case "invalid_key":
      return `Invalid key in ${issue.origin}`;
    case "invalid_union": {
      // SAFETY: zod names the options of a discriminated union so.
      const { options = [] } = issue as { options?: unknown[] };
      if (options.length === 0) return "Invalid input";
      return `Invalid discriminator value. Expected ${options.map((option) => `'${option}'`).join(" | ")}`;
    }
    default:
      return "Invalid input";
  }
}

function bound({ origin }: { origin: string }, than: string, limit: number | bigint): string {
  const unit = UNITS[origin];
  return `expected ${origin} to ${unit ? `have ${than}${limit} ${unit}` : `be ${than}${limit}`}`;
}

function typeName(value: unknown): string {
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function quoted(value: unknown): string {
  return typeof value === "string" ? `"${value}"` : String(value);
}
