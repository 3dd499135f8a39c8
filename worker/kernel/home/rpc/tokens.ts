/** What the rest of the Worker asks a home about tokens. */

import type { TokenView } from "../../api/answers.ts";
import type { NewToken } from "../../api/tokens.ts";
import type { TokensApi } from "../../api/tokens-api.ts";
import type { ApiToken } from "../../settings/tokens.ts";
import { featuresOf } from "../feature.ts";
import { HomePart } from "../part.ts";
import { tokensOf } from "../people/tokens.ts";

export class TokensRpc extends HomePart implements TokensApi {
  async tokens(): Promise<TokenView[]> {
    return tokensOf(this.home).list();
  }

  async makeToken(token: NewToken): Promise<TokenView | undefined> {
    return tokensOf(this.home).make(token, Date.now());
  }

  async revokeToken(id: string, withMade: boolean): Promise<TokenView[]> {
    return tokensOf(this.home).revoke(id, withMade);
  }

  async useToken(by: { hash: string } | { id: string }): Promise<ApiToken | undefined> {
    return this.isBlank ? undefined : tokensOf(this.home).use(by, this.home.name, Date.now());
  }

  async useGrant(id: string): Promise<ApiToken | undefined> {
    if (this.isBlank) return undefined;
    const { home } = this;
    return featuresOf(home)
      .find(({ useGrant }) => useGrant)
      ?.useGrant?.(home, id);
  }
}
