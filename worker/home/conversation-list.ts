/** The API's conversations of a home, by who began them: what a person looks through to find an earlier one. Rows of Home. */

export type ListedConversation = { id: string; title: string; last_at: number };

/** As a Conversation tells of itself, once a turn. @property name `home/channel/id` */
export type Listing = { name: string; principal: string; text: string };

/** Of a conversation in the list. */
export type Place = { last_at: number; name: string };

/** Older ones are still there, by their id; they are not listed any more. */
const KEPT_MAX = 1_000;
/** A turn after another writes no row. */
const GRAIN_MS = 60_000;
const TITLE_MAX = 80;

export class ConversationList {
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** A turn of it began. Whoever began the conversation keeps it. */
  note({ name, principal, text }: Listing, now: number): void {
    const known = this.#sql
      .exec<{ last_at: number }>("SELECT last_at FROM conversation WHERE name = ?", name)
      .toArray()[0];
    if (known && known.last_at + GRAIN_MS > now) return;
    if (known) {
      this.#sql.exec("UPDATE conversation SET last_at = ? WHERE name = ?", now, name);
      return;
    }
    this.#sql.exec(
      "INSERT INTO conversation (name, principal, title, last_at) VALUES (?, ?, ?, ?)",
      name,
      principal,
      titleOf(text),
      now,
    );
    this.#sql.exec(
      `DELETE FROM conversation WHERE last_at <
       (SELECT last_at FROM conversation ORDER BY last_at DESC LIMIT 1 OFFSET ${KEPT_MAX - 1})`,
    );
  }

  forget(name: string): void {
    this.#sql.exec("DELETE FROM conversation WHERE name = ?", name);
  }

  /** The newest first. @param after the last one of the page before */
  of(principal: string, after: Place | undefined, limit: number): ListedConversation[] {
    return this.#sql
      .exec<{ name: string; title: string; last_at: number }>(
        `SELECT name, title, last_at FROM conversation WHERE principal = ? AND (last_at, name) < (?, ?)
         ORDER BY last_at DESC, name DESC LIMIT ?`,
        principal,
        after?.last_at ?? Number.MAX_SAFE_INTEGER,
        after?.name ?? "",
        limit,
      )
      .toArray()
      .map(({ name, title, last_at }) => ({ id: name.split("/").slice(2).join("/"), title, last_at }));
  }
}

function titleOf(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= TITLE_MAX ? line : `${line.slice(0, TITLE_MAX - 1)}…`;
}
