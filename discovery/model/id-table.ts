/**
 * Keys and agent ids of devices. They are remembered by the devices' identifiers, so a new name changes what is shown and not
 * how a device is called.
 */
import { AGENT_ID, isReservedId } from "@edgecall/core/protocol/names.ts";
import { canonical } from "./grouping.ts";
import { slug } from "./names.ts";

export type IdRow = { key: string; id: string; identities: string[] };

const ID_MAX = 48;
const KEY_CHARS = 32;
/** Rows of devices that are long gone go first. */
const ROWS_MAX = 1_000;
const IDENTITIES_MAX = 64;

export class IdTable {
  readonly #sha256: (text: string) => string;
  readonly #rows = new Map<string, IdRow>();
  /** By their canonical forms. */
  readonly #byIdentity = new Map<string, IdRow>();
  readonly #ids = new Set<string>();
  #reserved: ReadonlySet<string> = new Set();

  constructor(sha256: (text: string) => string) {
    this.#sha256 = sha256;
  }

  /**
   * The row of a device: the oldest one that knows one of its identities, or a new one. Each identity stays with the row that had
   * it first, so devices that some config has made one get their own ids back when it is gone.
   * @param taken keys of devices that have their row
   */
  rowOf(identities: readonly string[], name: string, taken: ReadonlySet<string>): IdRow {
    const known = new Set(identities.map((identity) => this.#byIdentity.get(canonical(identity))));
    const row = [...this.#rows.values()].find((one) => known.has(one) && !taken.has(one.key));
    if (row === undefined) return this.#newRow(identities, name);
    for (const identity of identities)
      if (!this.#byIdentity.has(canonical(identity)) && row.identities.length < IDENTITIES_MAX) {
        row.identities.push(identity);
        this.#byIdentity.set(canonical(identity), row);
      }
    return row;
  }

  /** @returns what tells the age of a device's row, for a comparison; infinity: it has none */
  ages(): (identities: readonly string[]) => number {
    const places = new Map([...this.#rows.values()].map((row, at) => [row, at]));
    return (identities) =>
      Math.min(
        ...identities.map((identity) => {
          const row = this.#byIdentity.get(canonical(identity));
          return (row && places.get(row)) ?? Number.POSITIVE_INFINITY;
        }),
      );
  }

  /** Real agents win a clash. @returns whether a device got another id */
  reserve(ids: Iterable<string>): boolean {
    this.#reserved = new Set(ids);
    let changed = false;
    for (const row of this.#rows.values())
      if (this.#reserved.has(row.id)) {
        this.#ids.delete(row.id);
        row.id = this.#freeId(row.id);
        changed = true;
      }
    return changed;
  }

  /** Removes the oldest rows that no present device has. */
  prune(present: ReadonlySet<string>): void {
    for (const row of [...this.#rows.values()].slice(0, Math.max(0, this.#rows.size - ROWS_MAX))) {
      if (present.has(row.key)) continue;
      this.#rows.delete(row.key);
      this.#ids.delete(row.id);
      for (const identity of row.identities)
        if (this.#byIdentity.get(canonical(identity)) === row) this.#byIdentity.delete(canonical(identity));
    }
  }

  dump(): IdRow[] {
    return [...this.#rows.values()].map((row) => ({ ...row, identities: [...row.identities] }));
  }

  restore(rows: readonly IdRow[]): void {
    for (const { key, id, identities } of rows.slice(-ROWS_MAX)) {
      if (!AGENT_ID.test(id) || isReservedId(id) || this.#ids.has(id) || this.#rows.has(key)) continue;
      this.#ids.add(id);
      this.#add({ key, id, identities: identities.slice(0, IDENTITIES_MAX) });
    }
  }

  #newRow(identities: readonly string[], name: string): IdRow {
    const own = [...identities].sort().join("\n");
    let key = this.#keyOf(own);
    // Another device has the row that these identities made once.
    for (let n = 2; this.#rows.has(key); n += 1) key = this.#keyOf(`${own}\n${n}`);
    const id = this.#freeId(slug(name, ID_MAX, "-") ?? `device-${key.slice(0, 6)}`);
    const row = { key, id, identities: identities.slice(0, IDENTITIES_MAX) };
    this.#add(row);
    return row;
  }

  #keyOf(text: string): string {
    return this.#sha256(`edgecall device v1\n${text}`).slice(0, KEY_CHARS);
  }

  #add(row: IdRow): void {
    this.#rows.set(row.key, row);
    for (const identity of row.identities)
      if (!this.#byIdentity.has(canonical(identity))) this.#byIdentity.set(canonical(identity), row);
  }

  #freeId(wanted: string): string {
    let id = wanted;
    for (let n = 2; this.#ids.has(id) || this.#reserved.has(id) || isReservedId(id); n += 1)
      id = `${wanted}-${n}`;
    this.#ids.add(id);
    return id;
  }
}
