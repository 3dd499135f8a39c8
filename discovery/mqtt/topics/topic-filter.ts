/** Topics with open levels (`+`), as MQTT 5, 4.7 defines them. `#` is not used here. */

/** Tells whether a topic has a wildcard. */
export function isFilter(topic: string): boolean {
  return /[+#]/.test(topic);
}

/** Tells whether a topic, or some topic of a filter, matches the other filter. */
export function couldMatch(one: string, other: string): boolean {
  if (!isFilter(one) && !isFilter(other)) return one === other;
  const others = other.split("/");
  const levels = one.split("/");
  return (
    levels.length === others.length &&
    levels.every((level, at) => level === others[at] || level === "+" || others[at] === "+")
  );
}

/** Filters, found by a topic that they match. Only those with as many levels and the same last one are compared. */
export class TopicFilters {
  readonly #byEnd = new Map<string, Map<string, readonly string[]>>();

  add(filter: string): void {
    const levels = filter.split("/");
    const end = endOf(levels);
    this.#byEnd.set(end, (this.#byEnd.get(end) ?? new Map()).set(filter, levels));
  }

  delete(filter: string): void {
    const end = endOf(filter.split("/"));
    const filters = this.#byEnd.get(end);
    filters?.delete(filter);
    if (filters?.size === 0) this.#byEnd.delete(end);
  }

  matching(topic: string): string[] {
    if (this.#byEnd.size === 0) return [];
    const levels = topic.split("/", LEVELS_MAX + 1);
    const filters = levels.length > LEVELS_MAX ? undefined : this.#byEnd.get(endOf(levels));
    if (!filters) return [];
    const matches = (open: readonly string[]) => open.every((one, at) => one === "+" || one === levels[at]);
    return [...filters].flatMap(([filter, open]) => (matches(open) ? [filter] : []));
  }
}

/** A topic of a config has fewer. One that a publisher writes to has up to 65,536. */
const LEVELS_MAX = 200;

function endOf(levels: readonly string[]): string {
  return `${levels.length} ${levels.at(-1)}`;
}
