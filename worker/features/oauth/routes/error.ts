/** Errors of OAuth's endpoints, in the form of RFC 6749 §5.2 and RFC 7591 §3.2.2. */

type OauthErrorCode =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_scope"
  | "invalid_target"
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "unsupported_response_type"
  | "invalid_redirect_uri"
  | "invalid_client_metadata";

export class OauthError extends Error {
  readonly code: OauthErrorCode;

  constructor(code: OauthErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A client that is unknown gets 401, by which it knows to register anew. */
export function errorResponse({ code, message }: OauthError): Response {
  const status = code === "invalid_client" ? 401 : 400;
  return Response.json({ error: code, error_description: message }, { status, headers: NO_STORE });
}

export const NO_STORE = { "cache-control": "no-store", pragma: "no-cache" };
