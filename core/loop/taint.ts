/**
 * This file says who may believe whom. A conversation knows whose texts are in it; this file alone decides whether one of them taints
 * a call, which then asks a person before it does anything but read. docs/security.md has the same as a table.
 */

/** Of nobody in particular: a file, a web page, a picture, a log, another program's model. */
export const STRANGER = "*";

/** The source of a text: a stranger, or one agent of the home. */
export type Source = typeof STRANGER | `agent:${string}`;

export function agentSource(id: string): Source {
  return `agent:${id}`;
}

/** The target of a call: an agent by its id, or a tool of the gateway's own, which counts as one more device. */
export type CallTo = { agent: string } | "gateway";

/**
 * Tells whether a text taints a call. A stranger's taints every call. An agent's own words taint the calls to everybody else:
 * it needs no model to do what it likes with itself. A source that this version does not know taints every call, too.
 */
export function taints(source: Source, to: CallTo): boolean {
  return to === "gateway" || source !== agentSource(to.agent);
}

export function isTainted(sources: Iterable<Source>, to: CallTo): boolean {
  for (const source of sources) if (taints(source, to)) return true;
  return false;
}

/** Each source once, in the order in which they came. */
export function joinSources(...lists: ReadonlyArray<Iterable<Source>>): Source[] {
  return [...new Set(lists.flatMap((list) => [...list]))];
}
