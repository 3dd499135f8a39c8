/** What history adds to a home: questions about the past of a device, which its bridge answers. */
import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { historyTools } from "../model-tools.ts";
import { runPast } from "./past.ts";
import { historyRpc } from "./rpc.ts";

export const history = {
  tools: historyTools,
  tool: runPast,
  rpc: { history: historyRpc },
} satisfies HomeFeature;
