/** How parts of a home reach what they keep: through a function that has to be imported. */
import type { HomeContext } from "./context.ts";

/**
 * @param make runs at the first use in a home's object; what it returns is kept as long as the object lives
 * @returns reaches it
 */
export function slot<Kept extends object>(make: (home: HomeContext) => Kept): (home: HomeContext) => Kept {
  const made = new WeakMap<HomeContext, Kept>();
  return (home) => {
    const known = made.get(home);
    if (known) return known;
    const kept = make(home);
    made.set(home, kept);
    return kept;
  };
}
