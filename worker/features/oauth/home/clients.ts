/** Clients that a person of this home entered by hand, and copies of the metadata documents of others. */

import { sha256Hex } from "@edgecall/core/encoding.ts";
import type { OauthClientView } from "../../../kernel/api/answers.ts";
import { slot } from "../../../kernel/home/slot.ts";
import { SqlStore } from "../../../kernel/sql-store.ts";
import type { NewOauthClient, StoredClient, StoredDocument } from "../contract.ts";

const CLIENTS_MAX = 50;
/** Only people who are signed in have documents fetched. */
const DOCUMENTS_MAX = 50;

type Row = {
  id: string;
  kind: "typed" | "document";
  name: string;
  redirects: string;
  secret_hash: string | null;
  made_by: string | null;
  made_at: number;
  fresh_until: number | null;
};

class OauthClients extends SqlStore {
  /** @returns false: there are too many */
  make({ id, name, redirectUris, secretHash }: NewOauthClient, by: string, now: number): boolean {
    if (this.#rows("typed").length >= CLIENTS_MAX) return false;
    this.sql.insert("INTO oauth_client", {
      id,
      kind: "typed",
      name,
      redirects: JSON.stringify(redirectUris),
      secret_hash: secretHash,
      made_by: by,
      made_at: now,
    });
    return true;
  }

  remove(id: string): boolean {
    return (
      this.sql.all("DELETE FROM oauth_client WHERE id = ? AND kind = 'typed' RETURNING id", id).length > 0
    );
  }

  list(): OauthClientView[] {
    return this.#rows("typed").map((row) => ({
      id: row.id,
      name: row.name,
      redirect_uris: toStored(row).redirectUris,
      confidential: row.secret_hash !== null,
      made_by: row.made_by ?? "",
      made_at: row.made_at,
    }));
  }

  typed(id: string): StoredClient | undefined {
    const row = this.#row(id, "typed");
    return row && { ...toStored(row), confidential: row.secret_hash !== null };
  }

  /** True if the client has no secret, or this one. A client that was removed has none, and counts no more. */
  async isAuthentic(id: string, secret: string | undefined): Promise<boolean> {
    const hash = secret === undefined ? null : await sha256Hex(secret);
    const row = this.#row(id, "typed");
    // The hash of a random secret tells nothing by the time that it takes to compare.
    return row !== undefined && (row.secret_hash === null || row.secret_hash === hash);
  }

  document(id: string): StoredDocument | undefined {
    const row = this.#row(id, "document");
    return row && { ...toStored(row), freshUntil: row.fresh_until ?? 0 };
  }

  /** The oldest copy makes room. */
  storeDocument({ id, name, redirectUris, freshUntil }: StoredDocument, now: number): void {
    this.sql.insert("OR REPLACE INTO oauth_client", {
      id,
      kind: "document",
      name,
      redirects: JSON.stringify(redirectUris),
      made_at: now,
      fresh_until: freshUntil,
    });
    this.sql.exec`DELETE FROM oauth_client WHERE id IN (SELECT id FROM oauth_client WHERE kind = 'document'
      ORDER BY made_at DESC LIMIT -1 OFFSET ${DOCUMENTS_MAX})`;
  }

  #row(id: string, kind: Row["kind"]): Row | undefined {
    return this.sql.first<Row>("SELECT * FROM oauth_client WHERE id = ? AND kind = ?", id, kind);
  }

  #rows(kind: Row["kind"]): Row[] {
    return this.sql.all<Row>("SELECT * FROM oauth_client WHERE kind = ? ORDER BY made_at DESC, id", kind);
  }
}

function toStored({ id, name, redirects }: Row): StoredClient {
  // SAFETY: `make` or `storeDocument` wrote them.
  return { id, name, redirectUris: JSON.parse(redirects) as string[] };
}

export const oauthClientsOf = slot(({ ctx }) => new OauthClients(ctx.storage));
