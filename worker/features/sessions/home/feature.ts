/** What sessions add to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { runSessionTool } from "./tools.ts";

export const sessions = { tool: runSessionTool } satisfies HomeFeature;
