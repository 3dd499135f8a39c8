/** API tokens that were made in the console or by `edgecall tokens`: rows of Home, with only the tokens' hashes. No back-up contains them. */

import { madeFrom } from "@edgecall/core/protocol/token-makers.ts";
import type { TokenView } from "../../api/answers.ts";
import type { NewToken } from "../../api/tokens.ts";
import type { ApiToken, Scope } from "../../settings/tokens.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";

/** Tokens of a home. A person has a few, and each program one. */
const TOKENS_MAX = 200;
/** The time of use is stored this coarsely: each request would be a billed row, and days tell which tokens are unused. */
const USED_GRAIN_MS = 3_600_000;
/** An expired token stays in the list for so long, which shows why it is refused. */
const KEEP_EXPIRED_MS = 30 * 86_400_000;

type Row = {
  id: string;
  hash: string;
  name: string;
  role: ApiToken["role"];
  scopes: string;
  expires_at: number | null;
  created_at: number;
  last_used_at: number | null;
  made_by: string;
  by_session: number;
};

export class HomeTokens extends SqlStore {
  list(): TokenView[] {
    return this.sql.all<Row>("SELECT * FROM token ORDER BY created_at, id").map(toView);
  }

  /** @returns undefined: there are too many */
  make(token: NewToken, now: number): TokenView | undefined {
    this.sql.exec("DELETE FROM token WHERE expires_at < ?", now - KEEP_EXPIRED_MS);
    const { count } = this.sql.one<{ count: number }>("SELECT COUNT(*) AS count FROM token");
    if (count >= TOKENS_MAX) return undefined;
    const [row] = this.sql.all<Row>`INSERT INTO token (id, hash, name, role, scopes, expires_at, created_at,
      made_by, by_session) VALUES (${crypto.randomUUID()}, ${token.hash}, ${token.name}, ${token.role},
      ${JSON.stringify(token.scopes)}, ${token.expiresAt}, ${now}, ${token.madeBy}, ${token.bySession ? 1 : 0}) RETURNING *`;
    return row && toView(row);
  }

  /**
   * Revokes all in one statement, since one of the tokens may be the caller's own.
   * @param withMade also the tokens that this token made
   * @returns the revoked tokens, this one first; none: there is no such token
   */
  revoke(id: string, withMade: boolean): TokenView[] {
    const all = this.list();
    const token = all.find((one) => one.id === id);
    if (!token) return [];
    const revoked = [token, ...(withMade ? madeFrom(token, all) : [])];
    const ids = JSON.stringify(revoked.map((one) => one.id));
    this.sql.exec("DELETE FROM token WHERE id IN (SELECT value FROM json_each(?))", ids);
    return revoked;
  }

  /** The token of this hash or id, if it is valid now. Stores roughly when it was used. @param home the home's id */
  use(by: { hash: string } | { id: string }, home: string, now: number): ApiToken | undefined {
    const row = this.#valid(by, now);
    if (!row) return undefined;
    if ((row.last_used_at ?? 0) + USED_GRAIN_MS <= now)
      this.sql.exec("UPDATE token SET last_used_at = ? WHERE id = ?", now, row.id);
    return toToken(row, home);
  }

  /** The same without a use. */
  get(id: string, home: string, now: number): ApiToken | undefined {
    const row = this.#valid({ id }, now);
    return row && toToken(row, home);
  }

  #valid(by: { hash: string } | { id: string }, now: number): Row | undefined {
    const [row] = this.sql.all<Row>(
      `SELECT * FROM token WHERE ${"id" in by ? "id" : "hash"} = ?`,
      "id" in by ? by.id : by.hash,
    );
    return row && (row.expires_at ?? Number.POSITIVE_INFINITY) > now ? row : undefined;
  }
}

function toToken(row: Row, home: string): ApiToken {
  const { id, hash, name, role, expires_at: expiresAt } = row;
  const made = { id, expiresAt, ...(row.by_session === 1 && { bySession: true as const }) };
  return { hash, name, home, role, scopes: scopesOf(row), made };
}

function toView(row: Row): TokenView {
  const { id, name, role, expires_at, created_at, last_used_at, made_by } = row;
  return {
    id,
    name,
    role,
    scopes: scopesOf(row),
    expires_at,
    created_at,
    last_used_at,
    made_by,
    source: "home",
  };
}

function scopesOf({ scopes }: Row): Scope[] {
  // SAFETY: `make` wrote them.
  return JSON.parse(scopes) as Scope[];
}

export const tokensOf = slot(({ ctx }) => new HomeTokens(ctx.storage));
