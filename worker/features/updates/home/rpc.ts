/** What the rest of the Worker asks a home about updates. */

import { gatewayKeyOf } from "../../../kernel/home/agents/gateway-key.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { HomePart } from "../../../kernel/home/part.ts";
import type { UpdatesApi } from "../updates-api.ts";

export class UpdatesRpc extends HomePart implements UpdatesApi {
  async signManifest(named: string, body: string): Promise<string | undefined> {
    return this.isBlank ? undefined : await gatewayKeyOf(this.home).signManifest(named, body);
  }

  async updateBridge(id: string): Promise<"offline" | "cannot_update" | undefined> {
    return bridgeOf(this.home).requestUpdate(id, Date.now());
  }
}
