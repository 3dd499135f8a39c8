/** Methods of a home about oauth. */

import type { OauthClientView, OauthGrantView } from "../../kernel/api/answers.ts";
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import type { ApiToken } from "../../kernel/settings/tokens.ts";
import type {
  ClientProof,
  CodeRequest,
  Consent,
  ConsentResult,
  NewOauthClient,
  OauthRefusal,
  RefreshRequest,
  StoredClient,
  StoredDocument,
  TokenGrant,
} from "./contract.ts";

export interface OauthApi {
  /** A person allows a program to use the home. */
  consent(given: Consent): Promise<ConsentResult>;
  redeemCode(request: CodeRequest): Promise<TokenGrant>;
  /** @returns undefined: nothing was ever stored here */
  refreshGrant(request: RefreshRequest): Promise<TokenGrant | undefined>;
  grants(): Promise<OauthGrantView[]>;
  /** @returns false: no such grant counts */
  endGrant(id: string, by: Pick<ApiToken, "name" | "role">): Promise<boolean>;
  /** A client gives its token back. @returns why it is refused; undefined also when there was nothing to revoke */
  revokeFor(grant: string, client: ClientProof): Promise<OauthRefusal | undefined>;
  /** The clients that people entered by hand. */
  clients(): Promise<OauthClientView[]>;
  client(id: string): Promise<StoredClient | undefined>;
  /** @returns false: there are too many */
  makeClient(client: NewOauthClient, by: string): Promise<boolean>;
  removeClient(id: string): Promise<boolean>;
  /** The copy of a client's metadata document. */
  clientDocument(id: string): Promise<StoredDocument | undefined>;
  storeClientDocument(document: StoredDocument): Promise<void>;
}

/** This home, as to oauth. */
export const oauthAt = (env: Env, home: string): OauthApi => topicAt(env, home, "oauth");
