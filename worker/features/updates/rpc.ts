/** What the rest of the Worker asks a home about updates. */

import { RpcTarget } from "cloudflare:workers";
import type { HomeAccess } from "../../kernel/home/access.ts";
import { gatewayKeyOf } from "../../kernel/home/agents/gateway-key.ts";
import { bridgeOf } from "../../kernel/home/bridge/bridge-socket.ts";
import { isBlank } from "../../kernel/migrate.ts";
import type { UpdatesApi } from "./updates-api.ts";

export class UpdatesRpc extends RpcTarget implements UpdatesApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async signManifest(named: string, body: string): Promise<string | undefined> {
    return this.#at.isBlank ? undefined : await gatewayKeyOf(this.#at.home).signManifest(named, body);
  }

  async updateBridge(id: string): Promise<"offline" | "cannot_update" | undefined> {
    return bridgeOf(this.#at.home).requestUpdate(id, Date.now());
  }
}
