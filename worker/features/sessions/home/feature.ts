/** What sessions add to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { sessionTools } from "../model-tools.ts";
import { runSessionTool } from "./tools.ts";

export const sessions = { tools: sessionTools, tool: runSessionTool } satisfies HomeFeature;
