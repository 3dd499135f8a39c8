/** Makes the rows that the command `skill` (list, status) reports. */
import type { SkillSet } from "./load-skills.ts";

export type SkillRow = {
  name: string;
  /** True if any part of it can be used. */
  enabled: boolean;
  version: string;
  tools: string[];
  /** True if it has a SKILL.md. */
  instructions: boolean;
  description: string;
  /** The parts that are not offered, and why. */
  problems: string[];
};

/** Sorted by name. */
export function skillRows({
  tools,
  guides,
  skipped,
}: Pick<SkillSet, "tools" | "guides" | "skipped">): SkillRow[] {
  const rows = new Map<string, SkillRow>();
  const row = (name: string): SkillRow => {
    const known = rows.get(name) ?? empty(name);
    rows.set(name, known);
    return known;
  };
  for (const { tool, metadata } of tools) {
    const one = row(metadata.skill);
    one.enabled = true;
    one.version ||= metadata.version;
    one.tools.push(tool.name);
  }
  for (const { name, description } of guides) {
    Object.assign(row(name), { enabled: true, instructions: true, description });
  }
  for (const { skill, tool, reason } of skipped) {
    row(skill).problems.push(tool === undefined ? reason : `${tool}: ${reason}`);
  }
  return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function empty(name: string): SkillRow {
  return { name, enabled: false, version: "", tools: [], instructions: false, description: "", problems: [] };
}
