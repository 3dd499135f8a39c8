/** A back-up of an object, and the steps of putting it back. */

/** A blob stands as an object of this one key: no other value of a row is an object. */
export type BackupValue = string | number | null | { base64: string };

export type BackupRow = { table: string; row: Record<string, BackupValue> };

/** Where a page ended: the key of its last row. Not a count of rows, for between two pages rows come and go. */
export type BackupPlace = { table: string; after?: Array<string | number> };

export type BackupPage = { schema: number; rows: BackupRow[]; next?: BackupPlace };

/**
 * A back-up of an object is staged beside its rows, tried, and takes their place when all objects of the file were.
 * @property id of the import: an object holds one at a time
 */
export type RestoreStep =
  /** Rows of the back-up. `begin`: the first of them, with the schema they are of. `isWhole`: the last; they are tried. */
  | { do: "stage"; id: string; begin?: { schema: number }; rows: BackupRow[]; isWhole: boolean }
  /** They take the place of what is there. Once: again, it is known. */
  | { do: "replace"; id: string }
  /** They go, and what is there stays. */
  | { do: "discard"; id: string };
