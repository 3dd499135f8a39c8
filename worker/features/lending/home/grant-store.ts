/** Grants: what this home lends to other homes. */

import type { GrantScope, LentView } from "../../../kernel/api/answers.ts";
import { slot } from "../../../kernel/home/slot.ts";
import { SqlStore } from "../../../kernel/sql-store.ts";
import type { NewLending } from "../contract.ts";

/** Grants that count, offered or taken. */
const LENT_MAX = 50;
/** An invitation can be used for so long. */
const OFFERED_MS = 24 * 3_600_000;
/** A grant that has ended stays in the list for so long. */
const KEEP_ENDED_MS = 30 * 86_400_000;
const DAY_MS = 86_400_000;

/** The borrower. @property url "": it is at this gateway */
type Borrower = { key: string; url: string; home: string };

export type Grant = {
  id: string;
  label: string;
  agents: string[];
  scopes: GrantScope[];
  readsOnly: boolean;
  expiresAt: number;
  madeBy: string;
  madeAt: number;
  /** SHA-256 of the invitation's secret, hex; null: it was used. */
  secretHash: string | null;
  offeredUntil: number;
  borrower: Borrower | undefined;
  acceptedAt: number | null;
  revokedAt: number | null;
};

type Row = {
  id: string;
  label: string;
  agents: string;
  scopes: string;
  reads_only: number;
  expires_at: number;
  made_by: string;
  made_at: number;
  secret_hash: string | null;
  offered_until: number;
  peer_key: string | null;
  peer_url: string | null;
  peer_home: string | null;
  taken_at: number | null;
  revoked_at: number | null;
};

class GrantStore extends SqlStore {
  /** The newest first. */
  list(): Grant[] {
    return this.sql.all<Row>("SELECT * FROM lent ORDER BY made_at DESC, id").map(toGrant);
  }

  get(id: string): Grant | undefined {
    return this.sql.all<Row>("SELECT * FROM lent WHERE id = ?", id).map(toGrant)[0];
  }

  /** @returns undefined: there are too many, or one has this label */
  make(lending: NewLending, madeBy: string, secretHash: string, now: number): Grant | undefined {
    const open = this.list().filter((grant) => isOpen(grant, now));
    if (open.length >= LENT_MAX || open.some(({ label }) => label === lending.label)) return undefined;
    const id = crypto.randomUUID();
    this.sql.insert("INTO lent", {
      id,
      label: lending.label,
      agents: JSON.stringify([...new Set(lending.agents)].sort()),
      scopes: JSON.stringify([...new Set(lending.scopes)].sort()),
      reads_only: lending.reads_only ? 1 : 0,
      expires_at: now + lending.expires_in_days * DAY_MS,
      made_by: madeBy,
      made_at: now,
      secret_hash: secretHash,
      offered_until: now + OFFERED_MS,
    });
    return this.get(id);
  }

  /** The invitation is used up with this. */
  accept(id: string, { key, url, home }: Borrower, now: number): void {
    this.sql.exec`UPDATE lent SET secret_hash = NULL, peer_key = ${key}, peer_url = ${url},
      peer_home = ${home}, taken_at = ${now} WHERE id = ${id} AND secret_hash IS NOT NULL`;
  }

  /** @returns false: there is no such grant that counts */
  revoke(id: string, now: number): boolean {
    const revoked = this.sql.exec`UPDATE lent SET revoked_at = ${now}, secret_hash = NULL
      WHERE id = ${id} AND revoked_at IS NULL RETURNING id`;
    return revoked.toArray().length > 0;
  }

  prune(now: number): void {
    this.sql.exec("DELETE FROM lent WHERE COALESCE(revoked_at, expires_at) < ?", now - KEEP_ENDED_MS);
  }
}

/** True while it is offered or lent. */
export function isOpen(grant: Grant, now: number): boolean {
  return ["offered", "lent"].includes(stateOf(grant, now));
}

/** True while the borrower may use it. */
export function isGood({ borrower, revokedAt, expiresAt }: Grant, now: number): boolean {
  return borrower !== undefined && revokedAt === null && expiresAt > now;
}

/** @param usedAt the newest call, epoch ms */
export function lentView(grant: Grant, usedAt: number | null, now: number): LentView {
  const { id, label, agents, scopes } = grant;
  return {
    id,
    label,
    agents,
    scopes,
    reads_only: grant.readsOnly,
    state: stateOf(grant, now),
    expires_at: grant.expiresAt,
    made_by: grant.madeBy,
    made_at: grant.madeAt,
    taken_at: grant.acceptedAt,
    used_at: usedAt,
  };
}

function stateOf({ revokedAt, expiresAt, acceptedAt, offeredUntil }: Grant, now: number): LentView["state"] {
  if (revokedAt !== null) return "revoked";
  if (expiresAt <= now || (acceptedAt === null && offeredUntil <= now)) return "expired";
  return acceptedAt === null ? "offered" : "lent";
}

function toGrant(row: Row): Grant {
  const { peer_key: key, peer_url: url, peer_home: home } = row;
  return {
    id: row.id,
    label: row.label,
    agents: JSON.parse(row.agents) as string[],
    scopes: JSON.parse(row.scopes) as GrantScope[],
    readsOnly: row.reads_only === 1,
    expiresAt: row.expires_at,
    madeBy: row.made_by,
    madeAt: row.made_at,
    secretHash: row.secret_hash,
    offeredUntil: row.offered_until,
    borrower: key !== null && url !== null && home !== null ? { key, url, home } : undefined,
    acceptedAt: row.taken_at,
    revokedAt: row.revoked_at,
  };
}

export const grantsOf = slot(({ ctx }) => new GrantStore(ctx.storage));
