/** The names of a home's conversations, over every channel, so that a back-up finds them. One-shots are not among them. */
export class BackupList {
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** Writes nothing for a name that it has. @param name of the object: home, channel and id */
  add(name: string, now: number): void {
    this.#sql.exec("INSERT OR IGNORE INTO kept_conversation (name, last_turn_at) VALUES (?, ?)", name, now);
  }

  remove(name: string): void {
    this.#sql.exec("DELETE FROM kept_conversation WHERE name = ?", name);
  }

  names(): string[] {
    return this.#sql
      .exec<{ name: string }>("SELECT name FROM kept_conversation ORDER BY name")
      .toArray()
      .map(({ name }) => name);
  }
}
