/** What the rest of the Worker asks a home about tokens. */

import type { TokensApi } from "../../api/tokens-api.ts";
import { featuresOf } from "../feature.ts";
import type { HomePart } from "../part.ts";
import { tokensOf } from "../people/tokens.ts";

export const tokensRpc: HomePart<TokensApi> = {
  tokens: async ({ home }) => tokensOf(home).list(),
  makeToken: async ({ home }, token) => tokensOf(home).make(token, Date.now()),
  revokeToken: async ({ home }, id, withMade) => tokensOf(home).revoke(id, withMade),
  useToken: async (at, by) => (at.isBlank ? undefined : tokensOf(at.home).use(by, at.home.name, Date.now())),
  async useGrant(at, id) {
    if (at.isBlank) return undefined;
    const { home } = at;
    return featuresOf(home)
      .find(({ useGrant }) => useGrant)
      ?.useGrant?.(home, id);
  },
};
