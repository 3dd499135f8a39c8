/** Commands that only look at the agent itself: `ping`, `tools_list`, `get_metrics`. */
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { judge } from "../performance.ts";
import { succeeded } from "../reports.ts";
import type { CommandKind, Device } from "./command.ts";

export const ping: CommandKind = { kind: "look", run: () => succeeded({ pong: true }) };

export const toolsList: CommandKind = {
  kind: "look",
  async run(_call, device) {
    await device.offer.look();
    const { registry, offer } = device;
    const tools = registry.all().map((tool) => {
      const metadata = offer.skillOf(tool)?.metadata;
      return {
        name: tool.name,
        description: tool.description,
        parameters: jsonSchema(tool.input),
        ...(metadata && { evoclaw: metadata }),
      };
    });
    return succeeded({ tools, count: tools.length, unavailable: unavailableOf(device) });
  },
};

/** What this device could have and does not offer, each with what is missing. */
function unavailableOf({ unavailable, offer }: Device): Array<{ name: string; why: string }> {
  const ofSkills = offer.skipped.map(({ skill, tool, reason }) => ({
    name: tool ?? skill,
    why: tool === undefined ? `skill: ${reason}` : `skill '${skill}': ${reason}`,
  }));
  return [...unavailable(), ...ofSkills];
}

export const getMetrics: CommandKind = {
  kind: "look",
  run(_call, { metrics, toolMetrics, trades, profile }) {
    const tools = toolMetrics.read();
    const { performance, fitness, basis } = judge(tools, trades.list());
    return succeeded({
      agent_metrics: metrics.read(),
      evolution_metrics: performance,
      fitness_score: fitness,
      basis,
      tools,
      profile_version: profile.version,
    });
  },
};
