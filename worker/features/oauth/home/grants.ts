/** Grants: what people of this home gave to programs over OAuth. Back-ups do not contain them. */

import { sha256Hex, toBase64Url } from "@edgecall/core/encoding.ts";
import type { OauthGrantView } from "../../../kernel/api/answers.ts";
import { slot } from "../../../kernel/home/slot.ts";
import type { ApiToken } from "../../../kernel/settings/tokens.ts";
import { SqlStore } from "../../../kernel/sql-store.ts";
import type { Consent, ConsentResult, OauthScope } from "../contract.ts";

/**
 * Bounds of one person, so that nobody's programs keep another person's out. A home has a bounded number of people (their tokens).
 * Grants that count: a person connects a handful of programs, some of which register anew at each sign-in.
 */
const GRANTS_MAX = 50;
const CODES_MAX = 10;
/** Grants that have ended; the oldest make room. */
const ENDED_MAX = 50;
/** A client trades its code at once. */
const CODE_LIFE_MS = 60_000;
/** A grant ends when it was not used for so long. */
const GRANT_LIFE_MS = 90 * 86_400_000;
/** A grant whose client never got a token stays in the list for so long, which shows where its sign-in stopped. */
const KEEP_UNUSED_MS = 86_400_000;
/** A grant that has ended stays in the list for so long. */
const KEEP_ENDED_MS = 30 * 86_400_000;
/** A code's row outlives the code, so that its second use is noticed. */
const KEEP_CODE_MS = 86_400_000;
/** The time of use is stored this coarsely, since each time is a billed row. */
const USED_GRAIN_MS = 3_600_000;
/** A client that refreshes twice at once, or lost an answer, may use a refresh token again for so long. */
const GRACE_MS = 60_000;

type Row = {
  id: string;
  record: string;
  person: string;
  role: ApiToken["role"];
  client_hash: string;
  client_name: string;
  host: string;
  scopes: string;
  trusted: number;
  resource: string;
  generation: number;
  confirmed_at: number | null;
  made_at: number;
  token_at: number | null;
  used_at: number | null;
  due: number;
  ended_at: number | null;
  ended_by: string | null;
};

export type Grant = {
  id: string;
  /** The id of the record of the person's token. */
  record: string;
  person: string;
  role: ApiToken["role"];
  clientHash: string;
  clientName: string;
  scopes: OauthScope[];
  trusted: boolean;
  resource: string;
};

/** A code, with what its client has to show again. */
type Code = {
  grant: string;
  redirectUri: string;
  challenge: string | undefined;
  isUsed: boolean;
  isOver: boolean;
};

type CodeRow = {
  hash: string;
  grant_id: string;
  redirect: string;
  challenge: string | null;
  due: number;
  used: number;
};

class Grants extends SqlStore {
  /** @returns the code for the client of the new grant; or of what the person has too many */
  async make(consent: Consent, now: number): Promise<ConsentResult> {
    const clientHash = await sha256Hex(consent.clientId);
    const [code, id] = [toBase64Url(crypto.getRandomValues(new Uint8Array(32))), crypto.randomUUID()];
    const codeHash = await sha256Hex(code);
    this.prune(now);
    const { person } = consent;
    const live = "oauth_grant WHERE person = ? AND ended_at IS NULL AND due > ?";
    if (this.#count(live, person, now) >= GRANTS_MAX) return { full: "grants" };
    const open = `oauth_code WHERE used = 0 AND due > ?
      AND grant_id IN (SELECT id FROM oauth_grant WHERE person = ? AND ended_at IS NULL)`;
    if (this.#count(open, now, person) >= CODES_MAX) return { full: "codes" };
    this.#pruneEnded(person);
    this.sql.insert("INTO oauth_grant", {
      id,
      record: consent.record,
      person: consent.person,
      role: consent.role,
      client_hash: clientHash,
      client_name: consent.clientName,
      host: consent.host,
      scopes: JSON.stringify(consent.scopes),
      trusted: consent.trusted ? 1 : 0,
      resource: consent.resource,
      generation: 1,
      made_at: now,
      due: now + GRANT_LIFE_MS,
    });
    this.sql.insert("INTO oauth_code", {
      hash: codeHash,
      grant_id: id,
      redirect: consent.redirectUri,
      challenge: consent.challenge ?? null,
      due: now + CODE_LIFE_MS,
    });
    return { code };
  }

  /** @returns the grant while it counts */
  get(id: string, now: number): Grant | undefined {
    const row = this.#row(id);
    return row && row.ended_at === null && row.due > now ? toGrant(row) : undefined;
  }

  code(hash: string, now: number): Code | undefined {
    const [row] = this.sql.all<CodeRow>("SELECT * FROM oauth_code WHERE hash = ?", hash);
    return (
      row && {
        grant: row.grant_id,
        redirectUri: row.redirect,
        challenge: row.challenge ?? undefined,
        isUsed: row.used === 1,
        isOver: row.due <= now,
      }
    );
  }

  /** @returns false: the code was used meanwhile */
  useCode(hash: string, now: number): boolean {
    const used = this.sql.first<{ grant_id: string }>`UPDATE oauth_code SET used = 1
      WHERE hash = ${hash} AND used = 0 RETURNING grant_id`;
    if (used)
      this.sql.exec`UPDATE oauth_grant SET token_at = ${now}, due = ${now + GRANT_LIFE_MS}
        WHERE id = ${used.grant_id}`;
    return used !== undefined;
  }

  /**
   * Takes a refresh token of the grant, by its generation. "Present" is the newest that was used, so its successor was given out.
   * An answer may be lost, and two requests of a client may refresh at once:
   *
   * | generation | |
   * | --- | --- |
   * | present, also again | gets its successor, each time the same one |
   * | its successor | becomes the present one |
   * | the one before | gets the present one again, for a minute after that was first used |
   * | any other | is refused |
   * @returns the generation of the token to give; undefined: it counts no more, so somebody else has it
   */
  refresh(id: string, generation: number, now: number): number | undefined {
    const row = this.#row(id);
    if (!row) return undefined;
    const { generation: present, confirmed_at: confirmedAt } = row;
    const isLate = generation === present - 1 && confirmedAt !== null && now <= confirmedAt + GRACE_MS;
    if (isLate) return present;
    const isNew = generation === present + 1 && confirmedAt !== null;
    if (generation !== present && !isNew) return undefined;
    this.sql.exec`UPDATE oauth_grant SET generation = ${generation},
      confirmed_at = ${isNew ? now : (confirmedAt ?? now)}, due = ${now + GRANT_LIFE_MS} WHERE id = ${id}`;
    return generation + 1;
  }

  /** Stores roughly when the grant was used. */
  used(id: string, now: number): void {
    this.sql.exec`UPDATE oauth_grant SET used_at = ${now} WHERE id = ${id} AND (used_at IS NULL
      OR used_at <= ${now - USED_GRAIN_MS})`;
  }

  /** @param by a person, or why the gateway ended it @returns the grant; undefined: none of this id counts */
  end(id: string, by: string, now: number): Grant | undefined {
    return this.sql.all<Row>`UPDATE oauth_grant SET ended_at = ${now}, ended_by = ${by}
      WHERE id = ${id} AND ended_at IS NULL RETURNING *`.map(toGrant)[0];
  }

  /** The ids of a client's grants that have not ended. */
  ofClient(clientHash: string): string[] {
    return this.sql.all<Pick<Row, "id">>`SELECT id FROM oauth_grant
      WHERE client_hash = ${clientHash} AND ended_at IS NULL`.map(({ id }) => id);
  }

  /** The newest first. */
  list(now: number): OauthGrantView[] {
    return this.sql.all<Row>("SELECT * FROM oauth_grant ORDER BY made_at DESC, id").map((row) => ({
      id: row.id,
      person: row.person,
      client: row.client_name,
      host: row.host,
      scopes: toGrant(row).scopes,
      trusted: row.trusted === 1,
      state: stateOf(row, now),
      made_at: row.made_at,
      token_at: row.token_at,
      used_at: row.used_at,
      expires_at: row.due,
      ended_at: row.ended_at,
      ended_by: row.ended_by,
    }));
  }

  prune(now: number): void {
    this.sql.exec`DELETE FROM oauth_grant WHERE COALESCE(ended_at, due) < ${now - KEEP_ENDED_MS}
      OR (token_at IS NULL AND made_at < ${now - KEEP_UNUSED_MS})`;
    this.sql.exec("DELETE FROM oauth_code WHERE due < ?", now - KEEP_CODE_MS);
  }

  /** A person who connects and disconnects again and again fills no table. */
  #pruneEnded(person: string): void {
    this.sql.exec`DELETE FROM oauth_grant WHERE id IN (SELECT id FROM oauth_grant
      WHERE person = ${person} AND ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT -1 OFFSET ${ENDED_MAX})`;
    this.sql.exec("DELETE FROM oauth_code WHERE grant_id NOT IN (SELECT id FROM oauth_grant)");
  }

  #row(id: string): Row | undefined {
    return this.sql.first<Row>("SELECT * FROM oauth_grant WHERE id = ?", id);
  }

  #count(of: string, ...values: SqlStorageValue[]): number {
    return this.sql.one<{ count: number }>(`SELECT COUNT(*) AS count FROM ${of}`, ...values).count;
  }
}

function stateOf({ ended_at, due, token_at, used_at }: Row, now: number): OauthGrantView["state"] {
  if (ended_at !== null) return "ended";
  if (due <= now) return "expired";
  if (token_at === null) return "consented";
  return used_at === null ? "token_given" : "connected";
}

function toGrant(row: Row): Grant {
  const { id, record, person, role, client_hash: clientHash, client_name: clientName, resource } = row;
  // SAFETY: `make` wrote them.
  const scopes = JSON.parse(row.scopes) as OauthScope[];
  return { id, record, person, role, clientHash, clientName, scopes, trusted: row.trusted === 1, resource };
}

export const grantsOf = slot(({ ctx }) => new Grants(ctx.storage));
