/** `node waiting-agent.ts CONFIG`: the unchanged agent with one more tool. */

import { jsonLog } from "@edgecall/node/log.ts";
import { startAgent } from "../pi-agent/agent.ts";
import { loadSettings } from "../pi-agent/config/settings.ts";
import { waitTool } from "./wait-tool.ts";

const { settings } = loadSettings(process.argv[2] ?? "", process.env, {});
await startAgent(settings, {
  log: jsonLog({ program: "agent", agent: settings.agentId }),
  tools: [waitTool],
});
