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

/** Filters, found by a topic that they match. Only those with the topic's last level are compared. */
export class TopicFilters {
  readonly #byLast = new Map<string, Set<string>>();

  add(filter: string): void {
    const last = lastLevel(filter);
    this.#byLast.set(last, (this.#byLast.get(last) ?? new Set()).add(filter));
  }

  delete(filter: string): void {
    const last = lastLevel(filter);
    const filters = this.#byLast.get(last);
    filters?.delete(filter);
    if (filters?.size === 0) this.#byLast.delete(last);
  }

  matching(topic: string): string[] {
    const filters = this.#byLast.get(lastLevel(topic));
    return filters ? [...filters].filter((filter) => couldMatch(topic, filter)) : [];
  }
}

function lastLevel(topic: string): string {
  return topic.slice(topic.lastIndexOf("/") + 1);
}
