/** What the rest of the Worker asks a home about tokens. */

import { RpcTarget } from "cloudflare:workers";
import type { TokenView } from "../../api/answers.ts";
import type { NewToken } from "../../api/tokens.ts";
import type { TokensApi } from "../../api/tokens-api.ts";
import { isBlank } from "../../migrate.ts";
import type { ApiToken } from "../../settings/tokens.ts";
import type { HomeAccess } from "../access.ts";
import { tokensOf } from "./tokens.ts";

export class TokensRpc extends RpcTarget implements TokensApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async tokens(): Promise<TokenView[]> {
    return tokensOf(this.#at.home).list();
  }

  async makeToken(token: NewToken): Promise<TokenView | undefined> {
    return tokensOf(this.#at.home).make(token, Date.now());
  }

  async revokeToken(id: string, withMade: boolean): Promise<TokenView[]> {
    return tokensOf(this.#at.home).revoke(id, withMade);
  }

  async useToken(by: { hash: string } | { id: string }): Promise<ApiToken | undefined> {
    return this.#at.isBlank ? undefined : tokensOf(this.#at.home).use(by, this.#at.home.name, Date.now());
  }
}
