/** OAuth's grants: which program may do what in a home, for which person. */
import type { ApiToken } from "../../kernel/settings/tokens.ts";

/** What a program can be given. Never `approve`, `admin` or `metrics`. */
export const GRANT_SCOPES = ["ask", "command"] as const;
export type OauthScope = (typeof GRANT_SCOPES)[number];

/** A person's consent. It makes a grant, and a code by which the client gets its tokens. */
export type Consent = {
  /** The id of the record of the person's token (`recordId`). */
  record: string;
  person: string;
  role: ApiToken["role"];
  clientId: string;
  /** What the client calls itself, and where the answer goes. */
  clientName: string;
  host: string;
  redirectUri: string;
  /** S256; absent: a client with a secret, which cannot do PKCE. */
  challenge: string | undefined;
  scopes: OauthScope[];
  /** The owner says that the program reads no strangers' texts. */
  trusted: boolean;
  resource: string;
};

/** The code for the client; or of what the person has too many, so that nothing was given. */
export type ConsentResult = { code: string } | { full: "grants" | "codes" };

/** A client's word of who it is. Only one that was entered by hand has a secret. */
export type ClientProof = { clientId: string; clientSecret: string | undefined };

/** What a client sends to trade a code. */
export type CodeRequest = ClientProof & {
  code: string;
  redirectUri: string | undefined;
  verifier: string | undefined;
  resource: string | undefined;
};

export type RefreshRequest = ClientProof & {
  grant: string;
  generation: number;
  resource: string | undefined;
};

export type TokenGrant =
  /** @property generation of the refresh token that the client gets */
  { ok: true; grant: string; scopes: OauthScope[]; resource: string; generation: number } | OauthRefusal;

export type OauthRefusal = {
  ok: false;
  error: "invalid_grant" | "invalid_client" | "invalid_target";
  message: string;
};

/** A client that a person entered by hand, or the stored copy of a client's metadata document. */
export type StoredClient = {
  id: string;
  name: string;
  redirectUris: string[];
  /** Absent for a metadata document: whether the client has a secret. */
  confidential?: boolean;
};

/** @property secretHash null: it has no secret */
export type NewOauthClient = { id: string; name: string; redirectUris: string[]; secretHash: string | null };

/** @property freshUntil epoch ms: until then the document need not be requested again */
export type StoredDocument = StoredClient & { freshUntil: number };

/** The id of a client that a person entered by hand. It names the home, which stores the client. */
export const TYPED_ID = /^typed\.([a-z0-9][a-z0-9-]{0,62})\.[A-Za-z0-9_-]{16}$/;

export function isTypedId(id: string): boolean {
  return TYPED_ID.test(id);
}
