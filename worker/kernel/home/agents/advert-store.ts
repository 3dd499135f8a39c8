/**
 * The actions that agents advertise, with their schemas: rows that are shared by all agents that advertise the same, as
 * devices of one make do. Memory holds the names, and the schemas of a few that were used last.
 */

import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { textHash } from "@edgecall/core/protocol/text-hash.ts";
import { SqlStore } from "../../sql-store.ts";
import { namesByUse } from "./adverts.ts";

/** What lists show of an agent's actions. */
export type ActionNames = {
  /** As advertised. */
  names: string[];
  /** Those first that a device is asked for most. */
  actions: string[];
  /** Actions that may wait for the agent while it is offline. */
  queues: string[];
  /** Actions of a hosted device that change a setting of it. Rows of before 0.4 do not have it. */
  settings?: string[];
};

/** `advert`: their key. */
type Named = { advert: string; names: ActionNames };
type Shared = { names: ActionNames; agents: number };

/** Schemas in memory: 12 KB of text each, and about as much again as objects. */
const PARSED_MAX = 32;
/** The key of an agent that advertises no action. It has no row. */
const NONE = "";

export class Adverts extends SqlStore {
  readonly #shared = new Map<string, Shared>();
  /** The one used last is the last. */
  readonly #parsed = new Map<string, readonly ActionAdvert[]>();
  readonly none: Named = { advert: NONE, names: { names: [], actions: [], queues: [] } };

  /** @returns the key of these actions */
  async keyOf(tools: readonly ActionAdvert[]): Promise<string> {
    return tools.length === 0 ? NONE : await textHash(JSON.stringify(tools));
  }

  /** Stores actions under their key, if no agent advertises the same. `use` has to follow at once. */
  store(key: string, tools: readonly ActionAdvert[]): Named {
    if (key === NONE) return this.none;
    const known = this.#shared.get(key);
    if (known) return { advert: key, names: known.names };
    const names = namesOf(tools);
    this.sql.insert("OR REPLACE INTO advert", {
      hash: key,
      names: JSON.stringify(names),
      tools: JSON.stringify(tools),
    });
    this.#shared.set(key, { names, agents: 0 });
    return { advert: key, names };
  }

  /** Reads the names of all adverts. */
  load(): void {
    const rows = this.sql.exec<{ hash: string; names: string | null }>("SELECT hash, names FROM advert");
    for (const { hash, names } of rows.toArray())
      this.#shared.set(hash, { names: this.#namesIn(hash, names), agents: 0 });
  }

  /** @param key of an advert that an agent's row names */
  namesOf(key: string): ActionNames {
    return key === NONE ? this.none.names : this.#share(key).names;
  }

  /** The actions with their schemas. */
  tools(key: string): readonly ActionAdvert[] {
    if (key === NONE) return [];
    const tools = this.#parsed.get(key) ?? this.#read(key);
    this.#parsed.delete(key);
    this.#parsed.set(key, tools);
    const [oldest] = this.#parsed.keys();
    if (oldest !== undefined && this.#parsed.size > PARSED_MAX) this.#parsed.delete(oldest);
    return tools;
  }

  /** One agent more advertises this. */
  use(key: string): void {
    if (key !== NONE) this.#share(key).agents += 1;
  }

  /** One agent less advertises this. After the last one its row is deleted. */
  release(key: string): void {
    if (key === NONE) return;
    const shared = this.#share(key);
    shared.agents -= 1;
    if (shared.agents > 0) return;
    this.sql.exec("DELETE FROM advert WHERE hash = ?", key);
    this.#shared.delete(key);
    this.#parsed.delete(key);
  }

  #share(key: string): Shared {
    const shared = this.#shared.get(key) ?? { names: this.#namesIn(key, null), agents: 0 };
    this.#shared.set(key, shared);
    return shared;
  }

  /** @param stored null: a row of an older version has no names */
  #namesIn(key: string, stored: string | null): ActionNames {
    return stored === null ? namesOf(this.#read(key)) : (JSON.parse(stored) as ActionNames);
  }

  #read(key: string): ActionAdvert[] {
    const row = this.sql.first<{ tools: string }>("SELECT tools FROM advert WHERE hash = ?", key);
    return row ? (JSON.parse(row.tools) as ActionAdvert[]) : [];
  }
}

function namesOf(tools: readonly ActionAdvert[]): ActionNames {
  return {
    names: tools.map(({ name }) => name),
    actions: namesByUse(tools),
    queues: tools.flatMap(({ name, queue_ms }) => (queue_ms === undefined ? [] : [name])).sort(),
    settings: tools.flatMap(({ name, setting }) => (setting ? [name] : [])),
  };
}
