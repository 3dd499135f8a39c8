/** Finds exported classes of the same name in the programs: a search for a name should lead to one class. */
const CLASS = /^export (?:default )?(?:abstract )?class (\w+)/gm;

/** @param sources path → text @returns each name that several sources export, with their paths */
export function sharedClassNames(sources: Iterable<readonly [path: string, text: string]>): string[] {
  const paths = new Map<string, string[]>();
  for (const [path, text] of sources)
    for (const [, name = ""] of text.matchAll(CLASS)) paths.set(name, [...(paths.get(name) ?? []), path]);
  return [...paths]
    .filter(([, found]) => found.length > 1)
    .map(([name, found]) => `${name}: ${found.join(", ")}`);
}
