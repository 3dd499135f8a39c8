/** Commands that only look at the agent itself: `ping`, `tools_list`, `get_metrics`. */
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { AUDIT_RECENT, type AuditLog } from "../calls/audit.ts";
import { onlyForOwners } from "../calls/authority.ts";
import type { CommandCall } from "../calls/command.ts";
import type { CommandKind } from "../calls/command-kind.ts";
import type { Metrics } from "../calls/metrics.ts";
import type { OfferedTools, ToolMetadata } from "../calls/offered-tools.ts";
import type { ProfileInForce } from "../calls/profile-in-force.ts";
import type { ToolMetrics } from "../calls/tool-metrics.ts";
import { succeeded } from "../link/reports.ts";

export const ping: CommandKind = { kind: "look", run: () => succeeded({ pong: true }) };

/** @param promptTools those of a prompt: the offered ones, and those of this agent's own model */
export function toolsList(
  tools: Omit<OfferedTools, "registry">,
  promptTools: () => ToolRegistry,
): CommandKind {
  return {
    kind: "look",
    async run() {
      await tools.look();
      const list = promptTools()
        .all()
        .map((tool) => {
          return {
            name: tool.name,
            description: tool.description,
            parameters: jsonSchema(tool.input),
            ...(tool.own && { own: true }),
            evoclaw: tools.skillOf(tool)?.metadata ?? metadataOf(tool),
          };
        });
      return succeeded({ tools: list, count: list.length, unavailable: tools.unavailable });
    },
  };
}

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
function recentOf({ command }: CommandCall, audit: AuditLog): AuditLine[] | undefined {
  const { recent } = command.payload;
  if (typeof recent !== "number") return undefined;
  let chars = 0;
  return audit.recent({ limit: recent }).filter((line) => {
    chars += JSON.stringify(line).length;
    return chars <= RECENT_CHARS;
  });
}

export type GetMetricsParts = {
  metrics: Metrics;
  toolMetrics: ToolMetrics;
  audit: AuditLog;
  profile: Pick<ProfileInForce, "version">;
  /** EvoClaw's judgement of this agent. */
  judge(): Promise<{ performance: object; fitness: number; basis: string }>;
};

export function getMetrics({ metrics, toolMetrics, audit, profile, judge }: GetMetricsParts): CommandKind {
  return {
    kind: "look",
    problem(command) {
      const { recent } = command.payload;
      if (recent === undefined) return undefined;
      if (!Number.isInteger(recent) || Number(recent) < 1 || Number(recent) > AUDIT_RECENT)
        return `payload.recent: right would be how many calls, a whole number from 1 to ${AUDIT_RECENT}`;
      // The calls show what others asked for.
      return onlyForOwners(command);
    },
    async run(call) {
      const recent = recentOf(call, audit);
      const { performance, fitness, basis } = await judge();
      return succeeded({
        agent_metrics: metrics.read(),
        evolution_metrics: performance,
        fitness_score: fitness,
        basis,
        tools: toolMetrics.read(),
        profile_version: profile.version,
        ...(recent && { recent_calls: recent }),
      });
    },
  };
}
