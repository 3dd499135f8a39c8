/** Which conversations a home has, over every channel: their names, so that a back-up finds them. One-shots are not in it. */

export class BackupList {
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** Writes nothing for one that it knows. @param name of the object: home, channel and id */
  seen(name: string, now: number): void {
    this.#sql.exec("INSERT OR IGNORE INTO kept_conversation (name, last_turn_at) VALUES (?, ?)", name, now);
  }

  forgotten(name: string): void {
    this.#sql.exec("DELETE FROM kept_conversation WHERE name = ?", name);
  }

  names(): string[] {
    return this.#sql
      .exec<{ name: string }>("SELECT name FROM kept_conversation ORDER BY name")
      .toArray()
      .map(({ name }) => name);
  }
}
