/** What the rest of the Worker asks a home about usage. */

import { HomePart } from "../../../kernel/home/part.ts";
import type { UsageApi } from "../usage-api.ts";
import { metricsPage } from "./metrics.ts";

export class UsageRpc extends HomePart implements UsageApi {
  async metrics(): Promise<string> {
    return metricsPage(this.home);
  }
}
