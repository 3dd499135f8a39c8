/** What the stores of an object's rows share. */

type Row = Record<string, SqlStorageValue>;
type Query = string | TemplateStringsArray;

/** A query is a text with a `?` for each value, or a template whose values are bound, never put into its text. */
export class Sql {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  exec<R extends Row>(query: Query, ...values: unknown[]): SqlStorageCursor<R> {
    return this.#sql.exec<R>(typeof query === "string" ? query : query.join("?"), ...values);
  }

  all<R extends Row>(query: Query, ...values: unknown[]): R[] {
    return this.exec<R>(query, ...values).toArray();
  }

  /** @returns undefined: there is no row */
  first<R extends Row>(query: Query, ...values: unknown[]): R | undefined {
    return this.all<R>(query, ...values)[0];
  }

  /** @returns the only row, which there is: a count, for example */
  one<R extends Row>(query: Query, ...values: unknown[]): R {
    return this.exec<R>(query, ...values).one();
  }

  /**
   * @param into as in SQL: `INTO call`, `OR REPLACE INTO call`
   * @param row values by column @param then what follows the values: `ON CONFLICT …`, `RETURNING …`
   */
  insert<R extends Row>(into: string, row: Row, then = ""): R | undefined {
    const places = Object.keys(row).fill("?").join(", ");
    const query = `INSERT ${into} (${Object.keys(row).join(", ")}) VALUES (${places}) ${then}`;
    return this.first<R>(query, ...Object.values(row));
  }
}

export abstract class SqlStore {
  protected readonly sql: Sql;

  constructor(storage: DurableObjectStorage) {
    this.sql = new Sql(storage.sql);
  }
}
