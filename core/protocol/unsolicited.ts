/** Words that an EvoClaw agent says of its own accord: a skill's report (agent.rs, `skill_report`), or a bare message. It names no request. */
import type { ReadReport } from "./mqtt.ts";

/** EvoClaw's skills and its orchestrator's bare form use these. */
const TEXT_FIELDS = ["message", "content", "text"];

/** @returns its words, of any length; undefined: it answers a request, or has figures alone */
export function unsolicitedText({ type, payload }: ReadReport): string | undefined {
  if (type !== "other") return undefined;
  return textIn(payload) ?? textIn(payload.payload);
}

function textIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = new Map(Object.entries(value));
  return TEXT_FIELDS.map((name) => fields.get(name)).find(isText);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
