/** Every command that is answered with a report. `cancel`, `answer` and `ack` act on other commands: see inbox.ts. */
import type { CommandKind } from "../calls/command-kind.ts";
import { evolution } from "../evoclaw/evolution.ts";
import { execute } from "../evoclaw/execute.ts";
import { updateGenome } from "../evoclaw/update-genome.ts";
import { updateStrategy } from "../evoclaw/update-strategy.ts";
import { getMetrics, ping, toolsList } from "./looks.ts";
import { promptCommand } from "./prompt.ts";
import { readings, watchSet } from "./rules.ts";
import { sensor } from "./sensor.ts";
import { shutdown } from "./shutdown.ts";
import { skill } from "./skill.ts";
import { toolCommand } from "./tool.ts";

export const COMMANDS: ReadonlyMap<string, CommandKind> = new Map([
  ["ping", ping],
  ["tools_list", toolsList],
  ["tool", toolCommand],
  ["prompt", promptCommand],
  ["sensor", sensor],
  ["readings", readings],
  ["watch_set", watchSet],
  ["get_metrics", getMetrics],
  ["skill", skill],
  ["execute", execute],
  ["update_strategy", updateStrategy],
  ["update_genome", updateGenome],
  ["evolution", evolution],
  ["shutdown", shutdown],
]);
