/** A back-up of an object, and the steps of restoring it. */

/** A blob is an object with this one key; no other value of a row is an object. */
export type BackupValue = string | number | null | { base64: string };

export type BackupRow = { table: string; row: Record<string, BackupValue> };

/** The end of a page: the key of its last row. A count of rows would not do, because rows come and go between two pages. */
export type BackupPlace = { table: string; after?: Array<string | number> };

/** @property parts the versions of parts that have steps of their own (migrate.ts); absent: none has */
export type BackupSchema = { schema: number; parts?: Record<string, number> };

export type BackupPage = BackupSchema & { rows: BackupRow[]; next?: BackupPlace };

/**
 * An object stages a back-up beside its rows and tries it. When all objects of the file have done that, the back-ups replace the rows.
 * @property id of the import: an object holds one at a time
 */
export type RestoreStep =
  /** Rows of the back-up. `begin`: the first of them, with the schema they are of. `isWhole`: the last; they are tried. */
  | { do: "stage"; id: string; begin?: BackupSchema; rows: BackupRow[]; isWhole: boolean }
  /** The staged rows replace the object's rows. A repeat does nothing. */
  | { do: "replace"; id: string }
  /** The staged rows are deleted, and the object's rows stay. */
  | { do: "discard"; id: string };
