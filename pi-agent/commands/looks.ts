/** Commands that only look at the agent itself: `ping`, `tools_list`, `get_metrics`. */
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { AUDIT_RECENT } from "../calls/audit.ts";
import type { CommandCall } from "../calls/command.ts";
import type { CommandKind } from "../calls/command-kind.ts";
import type { Device } from "../calls/device.ts";
import { judge } from "../evoclaw/performance.ts";
import { succeeded } from "../link/reports.ts";
import type { ToolMetadata } from "../skills/load-skills.ts";
import { onlyForOwners } from "./authority.ts";

export const ping: CommandKind = { kind: "look", run: () => succeeded({ pong: true }) };

export const toolsList: CommandKind = {
  kind: "look",
  async run(_call, device) {
    await device.catalog.look();
    const { promptTools, catalog } = device;
    const tools = promptTools.all().map((tool) => {
      return {
        name: tool.name,
        description: tool.description,
        parameters: jsonSchema(tool.input),
        ...(tool.own && { own: true }),
        evoclaw: catalog.skillOf(tool)?.metadata ?? metadataOf(tool),
      };
    });
    return succeeded({ tools, count: tools.length, unavailable: catalog.unavailable });
  },
};

/** EvoClaw's block for a tool that is of no skill: the agent's own, or an MCP server's. */
function metadataOf({ timeoutMs, sandbox, permission, permissions, server }: Tool): ToolMetadata {
  return {
    binary: server === undefined ? "built-in" : "mcp",
    timeout_ms: timeoutMs,
    sandbox: sandbox === true,
    permissions: permissions ?? (permission ? [permission] : []),
    version: server === undefined ? VERSION : "",
    skill: server === undefined ? "edgecall" : `mcp:${server}`,
  };
}

/** Characters of JSON of the recent calls: a report has to pass a small broker. */
const RECENT_CHARS = 64 * 1024;

/** The recent calls on this device, newest first. */
function recentOf({ command }: CommandCall, { audit }: Device): AuditLine[] | undefined {
  const { recent } = command.payload;
  if (typeof recent !== "number") return undefined;
  let chars = 0;
  return audit.recent({ limit: recent }).filter((line) => {
    chars += JSON.stringify(line).length;
    return chars <= RECENT_CHARS;
  });
}

export const getMetrics: CommandKind = {
  kind: "look",
  problem(command) {
    const { recent } = command.payload;
    if (recent === undefined) return undefined;
    if (!Number.isInteger(recent) || Number(recent) < 1 || Number(recent) > AUDIT_RECENT)
      return `payload.recent: right would be how many calls, a whole number from 1 to ${AUDIT_RECENT}`;
    // The calls show what others asked for.
    return onlyForOwners(command);
  },
  run(call, device) {
    const { metrics, toolMetrics, trades, profile } = device;
    const recent = recentOf(call, device);
    const tools = toolMetrics.read();
    const { performance, fitness, basis } = judge(tools, trades.list());
    return succeeded({
      agent_metrics: metrics.read(),
      evolution_metrics: performance,
      fitness_score: fitness,
      basis,
      tools,
      profile_version: profile.version,
      ...(recent && { recent_calls: recent }),
    });
  },
};
