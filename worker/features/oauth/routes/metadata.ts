/** The documents by which clients find the sign-in: RFC 9728 and RFC 8414. Each client requests them several times. */

import { resourceOf } from "../../../kernel/settings/oauth.ts";
import { GRANT_SCOPES } from "../contract.ts";

export function resourceMetadata(issuer: string) {
  return {
    resource: resourceOf(issuer),
    authorization_servers: [issuer],
    scopes_supported: GRANT_SCOPES,
    bearer_methods_supported: ["header"],
  };
}

export function serverMetadata(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    // Without "none" claude.ai does not use its metadata document.
    token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
    revocation_endpoint_auth_methods_supported: ["none", "client_secret_post"],
    code_challenge_methods_supported: ["S256"],
    // Here alone: a client that finds it asks for a refresh token.
    scopes_supported: [...GRANT_SCOPES, "offline_access"],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  };
}
