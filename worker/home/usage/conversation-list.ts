/** The API's conversations of a home, by who began them, so that a person finds an earlier one. Rows of Home. */
import {
  LISTED_MAX,
  type ListedConversation,
  type Listing,
  type ListQuery,
  TITLE_MAX,
} from "../../api/conversation-list.ts";

/** A turn soon after another writes no row. */
const GRAIN_MS = 60_000;
/** Readers of all conversations of a home. */
const READERS_MAX_OF_HOME = 5_000;

export class ConversationList {
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** A turn of a conversation began. The conversation stays listed for whoever began it. */
  turnBegan({ name, principal, text }: Listing, now: number): void {
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
       (SELECT last_at FROM conversation ORDER BY last_at DESC LIMIT 1 OFFSET ${LISTED_MAX - 1})`,
    );
  }

  /** @returns undefined: it is not listed */
  rename(name: string, title: string): string | undefined {
    const stored = titleOf(title);
    return this.#sql
      .exec("UPDATE conversation SET title = ? WHERE name = ? RETURNING name", stored, name)
      .toArray()[0]
      ? stored
      : undefined;
  }

  titleOf(name: string): string | undefined {
    const [row] = this.#sql
      .exec<{ title: string }>("SELECT title FROM conversation WHERE name = ?", name)
      .toArray();
    return row?.title;
  }

  remove(name: string): void {
    this.#sql.exec("DELETE FROM conversation WHERE name = ?", name);
    this.#sql.exec("DELETE FROM conversation_reader WHERE name = ?", name);
  }

  /** The principal that began it, while it is listed. */
  principalOf(name: string): string | undefined {
    return this.#sql
      .exec<{ principal: string }>("SELECT principal FROM conversation WHERE name = ?", name)
      .toArray()[0]?.principal;
  }

  sharedWith(name: string): string[] {
    return this.#sql
      .exec<{ principal: string }>(
        "SELECT principal FROM conversation_reader WHERE name = ? ORDER BY principal",
        name,
      )
      .toArray()
      .map(({ principal }) => principal);
  }

  /** Replaces the readers of a conversation. @returns false: the home shares too much already */
  share(name: string, principals: readonly string[]): boolean {
    const { count } = this.#sql
      .exec<{ count: number }>("SELECT COUNT(*) AS count FROM conversation_reader WHERE name <> ?", name)
      .one();
    if (count + principals.length > READERS_MAX_OF_HOME) return false;
    this.#sql.exec("DELETE FROM conversation_reader WHERE name = ?", name);
    for (const principal of new Set(principals))
      this.#sql.exec("INSERT INTO conversation_reader (name, principal) VALUES (?, ?)", name, principal);
    return true;
  }

  /**
   * A person's conversations and those that were shared with them, the newest first.
   * @param after the last conversation of the page before
   */
  of(principal: string, { after, limit, all = false, words = "" }: ListQuery): ListedConversation[] {
    return this.#sql
      .exec<{ name: string; principal: string; title: string; last_at: number }>(
        `SELECT name, principal, title, last_at FROM conversation WHERE (last_at, name) < (?, ?) AND (? OR principal = ?
         OR name IN (SELECT name FROM conversation_reader WHERE principal = ?)) AND instr(lower(title), lower(?)) > 0
         ORDER BY last_at DESC, name DESC LIMIT ?`,
        after?.last_at ?? Number.MAX_SAFE_INTEGER,
        after?.name ?? "",
        all ? 1 : 0,
        principal,
        principal,
        words,
        limit,
      )
      .toArray()
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
  return line.length <= TITLE_MAX ? line : `${line.slice(0, TITLE_MAX - 1)}…`;
}
