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
/** Attributes are any integration's: what is longer than the longest list of effects or sources is no ability of a device. */
const LIST_MAX = 1_000;
const ATTRIBUTE_CHARS_MAX = 32_000;
const ATTRIBUTES_MAX = 200;

/** A state that is restored after a start is as good as none. */
export function isTold({ state, attributes }: EntityState): boolean {
  return state !== "unavailable" && attributes.restored !== true;
}

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
      const state = {
        state: textOf(s),
        attributes: limited(bounded(objectOf(attributes))),
        updated: timeOf(lu ?? lc),
      };
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
        attributes: limited({ ...Object.fromEntries(kept), ...bounded(objectOf(attributes)) }),
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

/** Leaves out what is too long, so that no entity fills the memory. A text is cut; of a list or a table nothing is kept then. */
function bounded(attributes: Json): Json {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]): [string, unknown][] => {
      if (typeof value === "string") return [[name, textOf(value)]];
      if (typeof value !== "object" || value === null) return [[name, value]];
      const isLong = Array.isArray(value) && value.length > LIST_MAX;
      return isLong || JSON.stringify(value).length > ATTRIBUTE_CHARS_MAX ? [] : [[name, value]];
    }),
  );
}

function limited(attributes: Json): Json {
  return Object.fromEntries(Object.entries(attributes).slice(0, ATTRIBUTES_MAX));
}

function textOf(value: unknown): string {
  if (typeof value !== "string") return "unknown";
  // A part of a text keeps all of it in memory, so the part is copied.
  return value.length <= TEXT_MAX ? value : [...value.slice(0, TEXT_MAX)].join("");
}

function timeOf(seconds: unknown): number | null {
  return typeof seconds === "number" ? Math.round(seconds * 1_000) : null;
}
