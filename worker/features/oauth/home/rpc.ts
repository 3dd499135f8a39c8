/** What the rest of the Worker asks a home about oauth. */

import type { OauthClientView, OauthGrantView } from "../../../kernel/api/answers.ts";
import { HomePart } from "../../../kernel/home/part.ts";
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
import { consent, endGrant, redeemCode, refreshGrant, removeClient, revokeFor } from "./token-grants.ts";

export class OauthRpc extends HomePart implements OauthApi {
  async consent(given: Consent): Promise<ConsentResult> {
    return await consent(this.home, given);
  }

  async redeemCode(request: CodeRequest): Promise<TokenGrant> {
    return await redeemCode(this.home, request);
  }

  async refreshGrant(request: RefreshRequest): Promise<TokenGrant | undefined> {
    return this.isBlank ? undefined : await refreshGrant(this.home, request);
  }

  async grants(): Promise<OauthGrantView[]> {
    return grantsOf(this.home).list(Date.now());
  }

  async endGrant(id: string, by: Pick<ApiToken, "name" | "role">): Promise<boolean> {
    return endGrant(this.home, id, by);
  }

  async revokeFor(grant: string, client: ClientProof): Promise<OauthRefusal | undefined> {
    return this.isBlank ? undefined : await revokeFor(this.home, grant, client);
  }

  async clients(): Promise<OauthClientView[]> {
    return oauthClientsOf(this.home).list();
  }

  async client(id: string): Promise<StoredClient | undefined> {
    return oauthClientsOf(this.home).typed(id);
  }

  async makeClient(client: NewOauthClient, by: string): Promise<boolean> {
    return oauthClientsOf(this.home).make(client, by, Date.now());
  }

  async removeClient(id: string): Promise<boolean> {
    return await removeClient(this.home, id);
  }

  async clientDocument(id: string): Promise<StoredDocument | undefined> {
    return oauthClientsOf(this.home).document(id);
  }

  async storeClientDocument(document: StoredDocument): Promise<void> {
    oauthClientsOf(this.home).storeDocument(document, Date.now());
  }
}
