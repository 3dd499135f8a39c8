/** States as Home Assistant's `subscribe_entities` sends them: all of them once, and then only what differs. */

/** Its attributes may hold credentials (`access_token`, `entity_picture`), so only those that a kind names are read. */
export type EntityState = {
  state: string;
  attributes: Readonly<Record<string, unknown>>;
  /** Time of the last change of state or attributes, by Home Assistant's clock (epoch ms). */
  updated: number | null;
};

/** What an event says: whole states, which were there before it; changes; entities that are gone. */
export type StateEvent = {
  whole: [id: string, state: EntityState][];
  changed: [id: string, state: EntityState][];
  gone: string[];
};

type Json = Readonly<Record<string, unknown>>;

const TEXT_MAX = 300;

/** The states of all entities, by their ids. */
export class States {
  readonly #states = new Map<string, EntityState>();

  get(id: string): EntityState | undefined {
    return this.#states.get(id);
  }

  clear(): void {
    this.#states.clear();
  }

  /** Reads an event. What has another form than Home Assistant's is left out. */
  read(event: unknown): StateEvent {
    const { a, c, r } = objectOf(event);
    const whole = Object.entries(objectOf(a)).map(([id, one]): [string, EntityState] => {
      const { s, a: attributes, lc, lu } = objectOf(one);
      const state = { state: textOf(s), attributes: objectOf(attributes), updated: timeOf(lu ?? lc) };
      this.#states.set(id, state);
      return [id, state];
    });
    const changed = Object.entries(objectOf(c)).flatMap(([id, one]): [string, EntityState][] => {
      const former = this.#states.get(id);
      if (!former) return [];
      const { "+": more, "-": less } = objectOf(one);
      const { s, a: attributes, lc, lu } = objectOf(more);
      const left = objectOf(less).a;
      const kept = Object.entries(former.attributes).filter(
        ([name]) => !(Array.isArray(left) && left.includes(name)),
      );
      const state = {
        state: s === undefined ? former.state : textOf(s),
        attributes: { ...Object.fromEntries(kept), ...objectOf(attributes) },
        updated: timeOf(lu ?? lc) ?? former.updated,
      };
      this.#states.set(id, state);
      return [[id, state]];
    });
    const gone = Array.isArray(r) ? r.filter((id) => typeof id === "string") : [];
    for (const id of gone) this.#states.delete(id);
    return { whole, changed, gone };
  }
}

export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, TEXT_MAX) : "unknown";
}

function timeOf(seconds: unknown): number | null {
  return typeof seconds === "number" ? Math.round(seconds * 1_000) : null;
}
