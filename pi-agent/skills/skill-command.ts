/** `skill`: lists this agent's skills, in EvoClaw's shape. */
import { cutText } from "@edgecall/core/text/cut.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import type { CommandKind } from "../calls/command-kind.ts";
import type { ProfileInForce } from "../calls/profile-in-force.ts";
import { failed, type Reply, succeeded } from "../link/reports.ts";
import type { SkillSet, SkillTool } from "./load-skills.ts";
import type { Skipped } from "./skill-file.ts";
import { type SkillRow, skillRows } from "./skill-report.ts";

/** The parts of the agent that the command uses. */
export type SkillCommandParts = {
  catalog: {
    readonly registry: ToolRegistry;
    /** The enabled skills. */
    readonly skills: SkillSet;
    readonly skipped: readonly Skipped[];
    look(): Promise<void>;
  };
  profile: Pick<ProfileInForce, "leavesEnabled">;
};

export function skillCommand(parts: SkillCommandParts): CommandKind {
  return {
    kind: "look",
    async run({ command }): Promise<Reply> {
      const { action, skill: name } = command.payload;
      switch (action) {
        case "list": {
          const skills = (await rowsOf(parts)).map(infoOf);
          return succeeded({ status: "success", skills, count: skills.length });
        }
        case "status": {
          if (typeof name !== "string") return failed("missing skill name");
          const found = (await rowsOf(parts)).find((row) => row.name === name);
          if (!found) return failed(`skill '${cutText(name, 100)}' not found`);
          return succeeded({ status: "success", skill: infoOf(found) });
        }
        case undefined:
          return succeeded({
            status: "error",
            error: "missing action field",
            note: "specify action: list, status",
          });
        default:
          return succeeded({
            status: "error",
            error: `unknown skill action: ${cutText(String(action), 100)}`,
          });
      }
    },
  };
}

async function rowsOf({ catalog, profile }: SkillCommandParts): Promise<SkillRow[]> {
  await catalog.look();
  const { guides } = catalog.skills;
  return skillRows({ tools: callable(catalog), guides, skipped: catalog.skipped }).map((row) =>
    profile.leavesEnabled(row.name) ? row : { ...row, enabled: false },
  );
}

/** The tools of skills, under the names by which they can be called. An older version has its number in the name. */
function callable({ registry, skills }: SkillCommandParts["catalog"]): SkillTool[] {
  return skills.read.tools.flatMap(({ tool, metadata }) => {
    const name = [tool.name, `${tool.name}@${metadata.version}`].find((one) => registry.get(one) === tool);
    return name === undefined ? [] : { tool: { ...tool, name }, metadata };
  });
}

/** EvoClaw's fields. Skills here have no timer of their own. */
function infoOf({ name, enabled, tools, ...more }: SkillRow): Record<string, unknown> {
  return { name, enabled, capabilities: tools, tick_interval_secs: 0, last_tick: null, ...more };
}
