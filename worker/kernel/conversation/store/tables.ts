/** The tables of a conversation. Each is made before its first row: to make one is billed as two rows or more. */
import { isBlank, startAt } from "../../migrate.ts";
import { CONVERSATION_MIGRATIONS, CONVERSATION_TABLES, type Table } from "./schema.ts";

export class Tables {
  readonly #storage: DurableObjectStorage;
  /** Read once; those that are made since are added. */
  #names: Set<string> | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** False: there are no rows to read. */
  has(table: Table): boolean {
    this.#names ??= new Set(
      this.#storage.sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
        .toArray()
        .map(({ name }) => name),
    );
    return this.#names.has(table);
  }

  /** Before a row is written to it. */
  need(table: Table): void {
    if (this.has(table)) return;
    if (isBlank(this.#storage)) startAt(this.#storage, CONVERSATION_MIGRATIONS);
    this.#storage.sql.exec(CONVERSATION_TABLES[table]);
    this.#names?.add(table);
  }

  /** After a write was undone, or everything was deleted. */
  forget(): void {
    this.#names = undefined;
  }
}
