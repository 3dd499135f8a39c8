/** @returns the one that is meant, of names of readings; undefined: none, or several could be */
export function closestReading(asked: string, names: readonly string[]): string | undefined {
  const folded = (text: string) =>
    text
      .toLowerCase()
      .replace(/[\s_-]+/g, " ")
      .trim();
  const wanted = folded(asked);
  const distinct = [...new Set(names)];
  const exact = distinct.find((name) => name === asked) ?? distinct.find((name) => folded(name) === wanted);
  if (exact !== undefined) return exact;
  const parts = distinct.filter((name) => ` ${folded(name)} `.includes(` ${wanted} `));
  return parts.length === 1 ? parts[0] : undefined;
}
