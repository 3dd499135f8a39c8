/** Methods of a home about tokens. */
import type { ApiToken } from "../settings/tokens.ts";
import type { TokenView } from "./answers.ts";
import type { NewToken } from "./tokens.ts";

export interface TokensApi {
  tokens(): Promise<TokenView[]>;
  /** @returns undefined: there are too many */
  makeToken(token: NewToken): Promise<TokenView | undefined>;
  revokeToken(id: string, withMade: boolean): Promise<TokenView[]>;
  /** The token of this hash or id, if it is valid now. */
  useToken(by: { hash: string } | { id: string }): Promise<ApiToken | undefined>;
  /** @returns the rights that a grant has now; undefined: none */
  useGrant(id: string): Promise<ApiToken | undefined>;
}
