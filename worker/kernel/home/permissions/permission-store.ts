/** The rows of standing permissions: those that hold in memory, and those that ended for a while, with the reason. */

import type { StandingPermission } from "@edgecall/core/permissions/permission.ts";
import type { Ended, EndReason, PermissionOffer } from "../../api/permissions.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";

/** Permissions that a home may hold. Those that an upgrade wrote out do not count. */
const PERMISSIONS_MAX = 200;
/** A permission that ended stays in the list for so long. The record of calls has it longer. */
const KEEP_ENDED_MS = 90 * 86_400_000;
const LISTED_MAX = 500;

/** @property since epoch ms of the earlier allowance for which an upgrade wrote it out; null: a person allowed it as it is */
export type PermissionRow = {
  permission: StandingPermission;
  since: number | null;
  isTold: boolean;
  uses: number;
  usedAt: number | null;
  ended: Ended | null;
};

/** An offer with what the permission would be bound to. */
export type StoredOffer = PermissionOffer & { key: string; version: string; conversation: string | null };

type Row = {
  id: string;
  key: string;
  row: string;
  since: number | null;
  told: number;
  uses: number;
  used_at: number | null;
  ended_at: number | null;
  ended_why: EndReason | null;
  ended_by: string | null;
};

class Permissions extends SqlStore {
  /** Those that have not ended, by their ids; undefined: not read yet. */
  #open: Map<string, PermissionRow> | undefined;

  get(id: string): PermissionRow | undefined {
    return this.#all().get(id);
  }

  /** Those that have not ended. @param key of a device; absent: of all */
  open(key?: string): PermissionRow[] {
    const all = [...this.#all().values()];
    return key === undefined ? all : all.filter(({ permission }) => permission.key === key);
  }

  /** Those that ended last. */
  ended(): PermissionRow[] {
    return this.sql
      .all<Row>(
        "SELECT * FROM standing_permission WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT ?",
        LISTED_MAX,
      )
      .map(toRow);
  }

  /** The newest permission of this device, if it ended since the device changed; undefined: it did not, or another holds. */
  changed(key: string): PermissionRow | undefined {
    if (this.open(key).length > 0) return undefined;
    const row = this.sql.first<Row>(
      "SELECT * FROM standing_permission WHERE key = ? ORDER BY ended_at DESC LIMIT 1",
      key,
    );
    return row?.ended_why === "changed" ? toRow(row) : undefined;
  }

  hasRoomFor(more: number): boolean {
    return this.open().filter((one) => one.since === null).length + more <= PERMISSIONS_MAX;
  }

  /** @returns false: there are too many */
  add(permission: StandingPermission, since: number | null = null): boolean {
    if (since === null && !this.hasRoomFor(1)) return false;
    this.sql.insert("INTO standing_permission", {
      id: permission.id,
      key: permission.key,
      row: JSON.stringify(permission),
      since,
      told: since === null ? 1 : 0,
    });
    this.#all().set(permission.id, {
      permission,
      since,
      isTold: since === null,
      uses: 0,
      usedAt: null,
      ended: null,
    });
    return true;
  }

  /** @returns the row that ended; undefined: it had ended, or there is none */
  end(id: string, ended: Ended): PermissionRow | undefined {
    const row = this.#all().get(id);
    if (!row) return undefined;
    this.sql.exec`UPDATE standing_permission SET ended_at = ${ended.at}, ended_why = ${ended.why},
      ended_by = ${ended.by} WHERE id = ${id}`;
    this.#all().delete(id);
    return { ...row, ended };
  }

  /** Those that were written out, and of which the owners do not know yet. */
  untold(): PermissionRow[] {
    return this.open().filter(({ isTold }) => !isTold);
  }

  markTold(): void {
    for (const row of this.untold()) row.isTold = true;
    this.sql.exec("UPDATE standing_permission SET told = 1 WHERE told = 0");
  }

  use(id: string, now: number): void {
    const row = this.#all().get(id);
    if (!row) return;
    row.uses += 1;
    row.usedAt = now;
    this.sql.exec("UPDATE standing_permission SET uses = ?, used_at = ? WHERE id = ?", row.uses, now, id);
  }

  /** The hash of a device is computed otherwise, and covers the same as before. */
  carry(key: string, from: string, to: string): void {
    for (const row of this.open(key)) {
      if (row.permission.version !== from) continue;
      row.permission = { ...row.permission, version: to };
      this.sql.exec(
        "UPDATE standing_permission SET row = ? WHERE id = ?",
        JSON.stringify(row.permission),
        row.permission.id,
      );
    }
  }

  /** What a question offers, as it was shown. */
  offers(question: string): StoredOffer[] | undefined {
    const row = this.sql.first<{ offers: string }>(
      "SELECT offers FROM permission_offer WHERE question = ?",
      question,
    );
    // SAFETY: `offer` wrote it.
    return row && (JSON.parse(row.offers) as StoredOffer[]);
  }

  /** @param until epoch ms: the question is closed by then */
  offer(question: string, offers: readonly StoredOffer[], until: number): void {
    this.sql.insert("INTO permission_offer", { question, offers: JSON.stringify(offers), until });
  }

  prune(now: number): void {
    this.sql.exec("DELETE FROM permission_offer WHERE until < ?", now);
    this.sql.exec("DELETE FROM standing_permission WHERE ended_at < ?", now - KEEP_ENDED_MS);
  }

  #all(): Map<string, PermissionRow> {
    this.#open ??= new Map(
      this.sql
        .all<Row>("SELECT * FROM standing_permission WHERE ended_at IS NULL ORDER BY id")
        .map((row) => [row.id, toRow(row)]),
    );
    return this.#open;
  }
}

function toRow({ row, since, told, uses, used_at, ended_at, ended_why, ended_by }: Row): PermissionRow {
  return {
    // SAFETY: `add` wrote it.
    permission: JSON.parse(row) as StandingPermission,
    since,
    isTold: told === 1,
    uses,
    usedAt: used_at,
    ended: ended_at !== null && ended_why !== null ? { at: ended_at, why: ended_why, by: ended_by } : null,
  };
}

export const permissionsOf = slot(({ ctx }) => new Permissions(ctx.storage));
