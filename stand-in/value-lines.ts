/** An enumeration whose values are told apart in the tool's description, line by line: `  - value: text`. */
import type { OfferedTool } from "./request.ts";

export function valuesOf(schema: Record<string, unknown>): string[] {
  return Array.isArray(schema.enum) ? schema.enum.filter((value) => typeof value === "string") : [];
}

/** The text of each line under its value, and the description without these lines. */
export function valueLines(tool: OfferedTool): { of: ReadonlyMap<string, string>; rest: string } {
  const of = new Map<string, string>();
  const rest: string[] = [];
  for (const line of tool.description.split("\n")) {
    const match = /^\s*[-*]\s+`?([^\s:`]+)`?\s*:\s*(.*)$/.exec(line);
    if (match?.[1] !== undefined && match[2] !== undefined) of.set(match[1], match[2]);
    else rest.push(line);
  }
  return { of, rest: rest.join("\n") };
}

/** `text [actions: a, b]` → the text and the names; `only` when the line says that there is nothing else. */
export function splitActions(line: string): { text: string; actions: string[]; only: boolean } {
  const match = /^(.*?)\s*\[([^[\]]*?)actions?:\s*([^[\]]*)\]?\s*$/i.exec(line);
  if (!match) return { text: line, actions: [], only: false };
  const actions = (match[3] ?? "").split(/[\s,]+/).filter((name) => /\w/.test(name));
  return { text: match[1] ?? "", actions, only: /\bonly\b/i.test(match[2] ?? "") };
}
