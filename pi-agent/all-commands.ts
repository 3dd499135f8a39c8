/** Every command that is answered with a report. `cancel`, `answer` and `ack` act on other commands: see calls/inbox.ts. */
import type { TurnCounts } from "@edgecall/core/metrics/tally.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import type { Commands } from "./calls/command-kind.ts";
import type { Metrics } from "./calls/metrics.ts";
import { type ActionParts, actionRunner } from "./calls/run-action.ts";
import type { Semaphore } from "./calls/semaphore.ts";
import { getMetrics, ping, toolsList } from "./commands/looks.ts";
import { promptCommand } from "./commands/prompt.ts";
import { sensor } from "./commands/sensor.ts";
import { shutdownCommand } from "./commands/shutdown.ts";
import { toolCommand } from "./commands/tool.ts";
import type { Settings } from "./config/settings.ts";
import type { EvoClaw } from "./evoclaw/evoclaw.ts";
import type { AgentHistory } from "./history/agent-history.ts";
import { pastCommand } from "./history/command.ts";
import { wallClock } from "./link/clock.ts";
import type { AgentRules } from "./rules/agent-rules.ts";
import { ruleCommands } from "./rules/commands.ts";
import { guideList } from "./skills/guide-list.ts";
import { skillCommand } from "./skills/skill-command.ts";
import type { ToolCatalog } from "./toolbox/tool-catalog.ts";

export type CommandsParts = Omit<ActionParts, "profile" | "tools" | "standing"> & {
  /** The agent's own key; undefined: it has no gateway of its own. */
  key: string | undefined;
  settings: Settings;
  catalog: ToolCatalog;
  promptTools(): ToolRegistry;
  evoclaw: EvoClaw;
  rules: AgentRules;
  /** Undefined: no readings are kept. */
  history: Pick<AgentHistory, "answer" | "problem"> | undefined;
  metrics: Metrics;
  semaphore: Semaphore;
  turns: TurnCounts;
  /** Ends the agent. */
  shutdown(): void;
};

export function allCommands({ catalog, evoclaw, shutdown, key, ...parts }: CommandsParts): Commands {
  const tools = catalog;
  const profile = evoclaw;
  const clock = () => wallClock(parts.settings);
  const isSkill = (tool: Tool) => catalog.skillOf(tool) !== undefined;
  const standing = key === undefined ? undefined : { key, clock, isSkill };
  const runAction = actionRunner({ ...parts, tools, profile, standing });
  const guides = () => guideList(catalog.skills.guides);
  const judge = () => evoclaw.judge();
  return new Map(
    Object.entries({
      ping,
      tools_list: toolsList(tools, parts.promptTools),
      tool: toolCommand({ ...parts, tools, runAction }),
      prompt: promptCommand({ ...parts, tools, profile, guides, runAction }),
      sensor: sensor({ tools, runAction }),
      get_metrics: getMetrics({ ...parts, profile, judge }),
      skill: skillCommand({ catalog, profile }),
      ...ruleCommands({ ...parts, tools }),
      past: pastCommand(parts.history),
      ...evoclaw.commands,
      shutdown: shutdownCommand(parts.settings, shutdown),
    }),
  );
}
