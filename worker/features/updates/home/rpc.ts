/** What the rest of the Worker asks a home about updates. */

import { gatewayKeyOf } from "../../../kernel/home/agents/gateway-key.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import type { HomePart } from "../../../kernel/home/part.ts";
import type { UpdatesApi } from "../updates-api.ts";

export const updatesRpc: HomePart<UpdatesApi> = {
  signManifest: async (at, named, body) =>
    at.isBlank ? undefined : await gatewayKeyOf(at.home).signManifest(named, body),
  updateBridge: async ({ home }, id) => bridgeOf(home).requestUpdate(id, Date.now()),
};
