/** Which token of a home made which others. */
type Listed = { name: string; made_by: string | null; source: string };

/**
 * Returns the tokens that a token made, and those that they made in turn. They all outlive their maker's revocation. A maker
 * is recorded only by its name, which another token may share.
 */
export function madeFrom<T extends Listed>(token: T, tokens: readonly T[]): T[] {
  const found = new Set<T>();
  const makers = [token.name];
  for (let name = makers.pop(); name !== undefined; name = makers.pop())
    for (const one of tokens) {
      if (one.made_by !== name || one.source !== "home" || one === token || found.has(one)) continue;
      found.add(one);
      makers.push(one.name);
    }
  return [...found];
}
