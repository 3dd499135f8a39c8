/** Every command that is answered with a report. `cancel`, `answer` and `ack` act on others: see inbox.ts. */
import type { CommandKind } from "./command.ts";
import { evolution } from "./evolution.ts";
import { getMetrics, ping, sensor, skill, toolsList } from "./looks.ts";
import { promptCommand } from "./prompt.ts";
import { toolCommand } from "./tool.ts";
import { execute, shutdown, updateGenome, updateStrategy } from "./upkeep.ts";

export const COMMANDS: ReadonlyMap<string, CommandKind> = new Map([
  ["ping", ping],
  ["tools_list", toolsList],
  ["tool", toolCommand],
  ["prompt", promptCommand],
  ["sensor", sensor],
  ["get_metrics", getMetrics],
  ["skill", skill],
  ["execute", execute],
  ["update_strategy", updateStrategy],
  ["update_genome", updateGenome],
  ["evolution", evolution],
  ["shutdown", shutdown],
]);
