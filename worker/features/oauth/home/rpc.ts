/** What the rest of the Worker asks a home about oauth. */

import type { HomePart } from "../../../kernel/home/part.ts";
import type { OauthApi } from "../oauth-api.ts";
import { oauthClientsOf } from "./clients.ts";
import { grantsOf } from "./grants.ts";
import { consent, endGrant, redeemCode, refreshGrant, removeClient, revokeFor } from "./token-grants.ts";

export const oauthRpc: HomePart<OauthApi> = {
  consent: async ({ home }, given) => await consent(home, given),
  redeemCode: async ({ home }, request) => await redeemCode(home, request),
  refreshGrant: async (at, request) => (at.isBlank ? undefined : await refreshGrant(at.home, request)),
  grants: async ({ home }) => grantsOf(home).list(Date.now()),
  endGrant: async ({ home }, id, by) => endGrant(home, id, by),
  revokeFor: async (at, grant, client) => (at.isBlank ? undefined : await revokeFor(at.home, grant, client)),
  clients: async ({ home }) => oauthClientsOf(home).list(),
  client: async ({ home }, id) => oauthClientsOf(home).typed(id),
  makeClient: async ({ home }, client, by) => oauthClientsOf(home).make(client, by, Date.now()),
  removeClient: async ({ home }, id) => await removeClient(home, id),
  clientDocument: async ({ home }, id) => oauthClientsOf(home).document(id),
  async storeClientDocument({ home }, document) {
    oauthClientsOf(home).storeDocument(document, Date.now());
  },
};
