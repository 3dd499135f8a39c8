/** Commands that only look: `ping`, `tools_list`, `get_metrics`, `skill`, `sensor`. */
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { textOf } from "@edgecall/core/tools/contract.ts";
import { failed, type Reply, succeeded } from "../reports.ts";
import type { CommandCall, CommandKind, Device } from "./command.ts";
import { fitness, performanceOf } from "./evolution.ts";
import { runAction } from "./run-action.ts";

export const ping: CommandKind = { kind: "look", run: () => succeeded({ pong: true }) };

export const toolsList: CommandKind = {
  kind: "look",
  run(_call, { registry }) {
    const tools = registry.all().map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: jsonSchema(tool.input),
    }));
    return succeeded({ tools, count: tools.length });
  },
};

export const getMetrics: CommandKind = {
  kind: "look",
  run(_call, { metrics }) {
    const agentMetrics = metrics.read();
    return succeeded({
      agent_metrics: agentMetrics,
      evolution_metrics: performanceOf(agentMetrics),
      fitness_score: fitness(agentMetrics),
    });
  },
};

/** In EvoClaw's words; this agent has no skills yet. */
export const skill: CommandKind = {
  kind: "look",
  run({ command }) {
    const { action, skill: name } = command.payload;
    if (action === "list") return succeeded({ status: "success", skills: [], count: 0 });
    if (action === "status") {
      return failed(typeof name === "string" ? `skill '${name}' not found` : "missing skill name");
    }
    if (action === undefined) {
      return succeeded({
        status: "error",
        error: "missing action field",
        note: "specify action: list, status",
      });
    }
    return succeeded({ status: "error", error: `unknown skill action: ${String(action).slice(0, 100)}` });
  },
};

/** EvoClaw's sensor → our tool. */
const SENSORS = new Map([
  ["temperature", "temperature"],
  ["cpu", "cpu"],
  ["memory", "memory"],
  ["disk", "disk"],
  ["system", "system_info"],
]);
const ALIASES = new Map([
  ["temp", "temperature"],
  ["mem", "memory"],
  ["info", "system"],
]);

type Reading = { success: boolean; data: Record<string, unknown> | null; error: string | null };

export const sensor: CommandKind = {
  kind: "look",
  async run(call, device): Promise<Reply> {
    const asked = call.command.payload.type ?? "all";
    const type = typeof asked === "string" ? (ALIASES.get(asked) ?? asked) : "";
    if (type === "all") {
      const names = [...SENSORS.keys()];
      const readings = await Promise.all([...SENSORS.values()].map((tool) => read(tool, call, device)));
      const data = names.map((name, index) => [name, readings[index]?.data ?? null]);
      return succeeded({ sensor: "all", data: Object.fromEntries(data) });
    }
    const tool = SENSORS.get(type);
    if (tool === undefined) {
      return failed(
        `unknown sensor type: ${String(asked).slice(0, 100)}. Available: ${[...SENSORS.keys()].join(", ")}, all`,
      );
    }
    return succeeded({ sensor: type, ...(await read(tool, call, device)) });
  },
};

async function read(tool: string, call: CommandCall, device: Device): Promise<Reading> {
  const { result } = await runAction({ callId: call.command.request_id, name: tool, args: {} }, call, device);
  const text = textOf(result);
  if (result.fault) return { success: false, data: null, error: text };
  return { success: true, data: { ...result.details, text }, error: null };
}
