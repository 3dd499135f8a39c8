/** What the rest of the Worker asks a home about usage. */

import type { HomePart } from "../../../kernel/home/part.ts";
import type { UsageApi } from "../usage-api.ts";
import { metricsPage } from "./metrics.ts";

export const usageRpc: HomePart<UsageApi> = {
  metrics: async ({ home }) => metricsPage(home),
};
