/** `skill`: lists this agent's skills, in EvoClaw's shape. */
import { cutText } from "@edgecall/core/text/cut.ts";
import type { CommandKind } from "../calls/command-kind.ts";
import type { Device } from "../calls/device.ts";
import { leavesEnabled } from "../evoclaw/genome.ts";
import { failed, type Reply, succeeded } from "../link/reports.ts";
import type { SkillTool } from "../skills/load-skills.ts";
import { type SkillRow, skillRows } from "../skills/skill-report.ts";

export const skill: CommandKind = {
  kind: "look",
  async run({ command }, device): Promise<Reply> {
    const { action, skill: name } = command.payload;
    switch (action) {
      case "list": {
        const skills = (await rowsOf(device)).map(infoOf);
        return succeeded({ status: "success", skills, count: skills.length });
      }
      case "status": {
        if (typeof name !== "string") return failed("missing skill name");
        const found = (await rowsOf(device)).find((row) => row.name === name);
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
        return succeeded({ status: "error", error: `unknown skill action: ${cutText(String(action), 100)}` });
    }
  },
};

async function rowsOf(device: Device): Promise<SkillRow[]> {
  const { catalog, profile } = device;
  await catalog.look();
  const { guides } = catalog.skills;
  return skillRows({ tools: callable(device), guides, skipped: catalog.skipped }).map((row) =>
    leavesEnabled(profile.genome, row.name) ? row : { ...row, enabled: false },
  );
}

/** The tools of skills, under the names by which they can be called. An older version has its number in the name. */
function callable({ catalog, registry }: Device): SkillTool[] {
  return catalog.skills.read.tools.flatMap(({ tool, metadata }) => {
    const name = [tool.name, `${tool.name}@${metadata.version}`].find((one) => registry.get(one) === tool);
    return name === undefined ? [] : { tool: { ...tool, name }, metadata };
  });
}

/** EvoClaw's fields. Skills here have no timer of their own. */
function infoOf({ name, enabled, tools, ...more }: SkillRow): Record<string, unknown> {
  return { name, enabled, capabilities: tools, tick_interval_secs: 0, last_tick: null, ...more };
}
