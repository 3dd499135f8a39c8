/**
 * The rules of trust between texts and calls. A conversation knows the sources of its texts; this file alone decides whether
 * a source taints a call. A tainted call that does more than read asks a person first. docs/explain/security.md has the table.
 */

/** Any text without a trusted author: a file, web page, picture or log, or the text of another program's model. */
export const STRANGER = "*";

/** The source of a text: a stranger, or one agent of the home. */
export type Source = typeof STRANGER | `agent:${string}` | `first:${string}`;

export function agentSource(id: string): Source {
  return `agent:${id}`;
}

/**
 * The source of the first words by which an unpaired agent describes itself, where the home serves any (`ALLOW_UNSIGNED_AGENTS=*`). They are
 * accepted by their first use, which is worth less than a person's word: see `isTainted`.
 */
export function firstUseSource(id: string): Source {
  return `first:${id}`;
}

/** The target of a call: an agent by its id, or the gateway's own tools, which count as one more device. */
export type CallTo = { agent: string; isOpen?: boolean } | "gateway";

/**
 * Tells whether a text from `source` taints a call. A stranger's text taints every call. An agent's text taints the calls to all others,
 * but not to itself, since an agent controls itself anyway. First words of an unpaired agent do not taint calls to agents that are open
 * (`isOpen`): these have no key, no owner named them, and whatever can write to the broker commands them without any model.
 * An unknown kind of source taints every call.
 */
export function taints(source: Source, to: CallTo): boolean {
  if (to === "gateway") return true;
  const isFirstUse = source.startsWith("first:");
  return isFirstUse
    ? to.isOpen !== true && source !== firstUseSource(to.agent)
    : source !== agentSource(to.agent);
}

export function isTainted(sources: Iterable<Source>, to: CallTo): boolean {
  for (const source of sources) if (taints(source, to)) return true;
  return false;
}

/** Returns each source once, in the order of its first appearance. */
export function joinSources(...lists: ReadonlyArray<Iterable<Source>>): Source[] {
  return [...new Set(lists.flatMap((list) => [...list]))];
}
