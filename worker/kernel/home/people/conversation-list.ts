/**
 * The conversations of a home over every channel, except one-shots: so that a back-up finds them, and a person finds an earlier
 * one of the API by its first words. Rows of Home.
 */

import { cutText } from "@edgecall/core/text/cut.ts";
import {
  type ListedConversation,
  type Listing,
  type ListQuery,
  TITLE_MAX,
} from "../../api/conversation-list.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";

/** A row says to the minute when its conversation was last used. */
const GRAIN_MS = 60_000;
/** Readers of all conversations of a home. */
const READERS_MAX_OF_HOME = 5_000;
/** People's conversations with the time of their newest turn, which may stand in its report alone (usage-reports.ts). */
const LISTED = `
  (SELECT name, principal, title, MAX(last_at, COALESCE(reported.at, 0)) AS last_at FROM conversation
   LEFT JOIN (SELECT conversation, MAX(at) AS at FROM usage_report GROUP BY conversation) AS reported
     ON reported.conversation = name
   WHERE principal IS NOT NULL)`;

export class ConversationList extends SqlStore {
  /** A turn of the API began. Its conversation is listed for whoever began it. A later turn writes nothing. */
  turnBegan({ name, principal, text }: Listing, now: number): void {
    if (this.principalOf(name) !== undefined) return;
    this.sql.insert(
      "INTO conversation",
      { name, principal, title: titleOf(text), last_at: now },
      `ON CONFLICT (name) DO UPDATE SET principal = excluded.principal, title = excluded.title`,
    );
  }

  /** A turn of any channel ended. Only the first one of a conversation that nobody listed writes a row. */
  turnEnded(name: string, now: number): void {
    this.sql.exec("INSERT OR IGNORE INTO conversation (name, last_at) VALUES (?, ?)", name, now);
  }

  /** The report of the turn is about to be replaced. */
  usedAt(name: string, at: number): void {
    this.sql.exec`UPDATE conversation SET last_at = ${at} WHERE name = ${name} AND principal IS NOT NULL
      AND last_at < ${at - GRAIN_MS}`;
  }

  /** The names of all conversations. @returns `home/channel/id` */
  names(): string[] {
    return this.sql
      .all<{ name: string }>("SELECT name FROM conversation ORDER BY name")
      .map(({ name }) => name);
  }

  /** Of any channel. @returns epoch ms of the newest turn that ended there; 0: none */
  lastUsed(name: string): number {
    const { at } = this.sql.one<{ at: number | null }>(
      `SELECT MAX(at) AS at FROM (SELECT last_at AS at FROM conversation WHERE name = ?1
       UNION ALL SELECT at FROM usage_report WHERE conversation = ?1)`,
      name,
    );
    return at ?? 0;
  }

  has(name: string): boolean {
    return this.sql.all("SELECT 1 FROM conversation WHERE name = ?", name).length > 0;
  }

  /** @returns undefined: it is not listed */
  rename(name: string, title: string): string | undefined {
    const stored = titleOf(title);
    return this.sql.first`UPDATE conversation SET title = ${stored}
      WHERE name = ${name} AND principal IS NOT NULL RETURNING name`
      ? stored
      : undefined;
  }

  titleOf(name: string): string | undefined {
    const [row] = this.sql.all<{ title: string | null }>`SELECT title FROM conversation WHERE name = ${name}`;
    return row?.title ?? undefined;
  }

  remove(name: string): void {
    this.sql.exec("DELETE FROM conversation WHERE name = ?", name);
    this.sql.exec("DELETE FROM conversation_reader WHERE name = ?", name);
  }

  /** The principal that began it, while it is listed. */
  principalOf(name: string): string | undefined {
    const [row] = this.sql.all<{ principal: string | null }>`SELECT principal FROM conversation
      WHERE name = ${name}`;
    return row?.principal ?? undefined;
  }

  sharedWith(name: string): string[] {
    return this.sql.all<{ principal: string }>`SELECT principal FROM conversation_reader
      WHERE name = ${name} ORDER BY principal`.map(({ principal }) => principal);
  }

  /** The conversations that were shared with a principal. */
  sharedTo(principal: string): Set<string> {
    const rows = this.sql.exec<{ name: string }>`SELECT name FROM conversation_reader
      WHERE principal = ${principal}`;
    return new Set(rows.toArray().map(({ name }) => name));
  }

  /** Replaces the readers of a conversation. @returns false: the home shares too much already */
  share(name: string, principals: readonly string[]): boolean {
    const { count } = this.sql.one<{ count: number }>(
      "SELECT COUNT(*) AS count FROM conversation_reader WHERE name <> ?",
      name,
    );
    if (count + principals.length > READERS_MAX_OF_HOME) return false;
    this.sql.exec("DELETE FROM conversation_reader WHERE name = ?", name);
    for (const principal of new Set(principals))
      this.sql.exec("INSERT INTO conversation_reader (name, principal) VALUES (?, ?)", name, principal);
    return true;
  }

  /**
   * A person's conversations and those that were shared with them, the newest first.
   * @param after the last conversation of the page before
   */
  of(principal: string, { after, limit, all = false, words = "", seenBy }: ListQuery): ListedConversation[] {
    return this.sql
      .all<{ name: string; principal: string; title: string; last_at: number }>(
        `SELECT name, principal, title, last_at FROM ${LISTED} WHERE (last_at, name) < (?, ?) AND (? OR principal = ?
         OR name IN (SELECT name FROM conversation_reader WHERE principal = ?))
         AND (? IS NULL OR principal = ? OR name IN (SELECT name FROM conversation_reader WHERE principal = ?)) AND instr(lower(title), lower(?)) > 0
         ORDER BY last_at DESC, name DESC LIMIT ?`,
        after?.last_at ?? Number.MAX_SAFE_INTEGER,
        after?.name ?? "",
        all ? 1 : 0,
        principal,
        principal,
        seenBy ?? null,
        seenBy ?? null,
        seenBy ?? null,
        words,
        limit,
      )
      .map(({ name, principal: by, title, last_at }) => ({
        id: name.split("/").slice(2).join("/"),
        title,
        last_at,
        ...(by !== principal && { principal: by }),
      }));
  }
}

function titleOf(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return cutText(line, TITLE_MAX);
}

export const conversationListOf = slot(({ ctx }) => new ConversationList(ctx.storage));
