/** What the rest of the Worker asks a home about oauth. */

import { RpcTarget } from "cloudflare:workers";
import type { OauthClientView, OauthGrantView } from "../../../kernel/api/answers.ts";
import type { HomeAccess } from "../../../kernel/home/access.ts";
import { isBlank } from "../../../kernel/migrate.ts";
import type { ApiToken } from "../../../kernel/settings/tokens.ts";
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
} from "../contract.ts";
import type { OauthApi } from "../oauth-api.ts";
import { oauthClientsOf } from "./clients.ts";
import { grantsOf } from "./grants.ts";
import {
  consent,
  endGrant,
  redeemCode,
  refreshGrant,
  removeClient,
  revokeFor,
  useGrant,
} from "./token-grants.ts";

export class OauthRpc extends RpcTarget implements OauthApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async consent(given: Consent): Promise<ConsentResult> {
    return await consent(this.#at.home, given);
  }

  async redeemCode(request: CodeRequest): Promise<TokenGrant> {
    return await redeemCode(this.#at.home, request);
  }

  async refreshGrant(request: RefreshRequest): Promise<TokenGrant | undefined> {
    return this.#at.isBlank ? undefined : await refreshGrant(this.#at.home, request);
  }

  async useGrant(id: string): Promise<ApiToken | undefined> {
    return this.#at.isBlank ? undefined : useGrant(this.#at.home, id);
  }

  async grants(): Promise<OauthGrantView[]> {
    return grantsOf(this.#at.home).list(Date.now());
  }

  async endGrant(id: string, by: Pick<ApiToken, "name" | "role">): Promise<boolean> {
    return endGrant(this.#at.home, id, by);
  }

  async revokeFor(grant: string, client: ClientProof): Promise<OauthRefusal | undefined> {
    return this.#at.isBlank ? undefined : await revokeFor(this.#at.home, grant, client);
  }

  async oauthClients(): Promise<OauthClientView[]> {
    return oauthClientsOf(this.#at.home).list();
  }

  async oauthClient(id: string): Promise<StoredClient | undefined> {
    return oauthClientsOf(this.#at.home).typed(id);
  }

  async makeOauthClient(client: NewOauthClient, by: string): Promise<boolean> {
    return oauthClientsOf(this.#at.home).make(client, by, Date.now());
  }

  async removeOauthClient(id: string): Promise<boolean> {
    return await removeClient(this.#at.home, id);
  }

  async clientDocument(id: string): Promise<StoredDocument | undefined> {
    return oauthClientsOf(this.#at.home).document(id);
  }

  async storeClientDocument(document: StoredDocument): Promise<void> {
    oauthClientsOf(this.#at.home).storeDocument(document, Date.now());
  }
}
