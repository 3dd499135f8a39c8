/** What the rest of the Worker asks a home about tokens. */
import { RpcTarget } from "cloudflare:workers";
import type { TokenView } from "../../api/answers.ts";
import type { NewToken } from "../../api/tokens.ts";
import { isBlank } from "../../migrate.ts";
import type { ApiToken } from "../../settings/tokens.ts";
import type { HomeAccess } from "../access.ts";
import type { TokensApi } from "../../api/tokens-api.ts";

export class TokensRpc extends RpcTarget implements TokensApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async tokens(): Promise<TokenView[]> {
    return this.#at.home.tokens.list();
  }

  async makeToken(token: NewToken): Promise<TokenView | undefined> {
    return this.#at.home.tokens.make(token, Date.now());
  }

  async revokeToken(id: string, withMade: boolean): Promise<TokenView[]> {
    return this.#at.home.tokens.revoke(id, withMade);
  }

  async useToken(by: { hash: string } | { id: string }): Promise<ApiToken | undefined> {
    return this.#at.isBlank ? undefined : this.#at.home.tokens.use(by, this.#at.home.name, Date.now());
  }
}
