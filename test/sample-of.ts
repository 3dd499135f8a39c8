/** Reads one figure from a page of Prometheus' format. */

/** @param left the sample's whole left side, as it stands on the page */
export function sampleOf(page: string, left: string): number | undefined {
  const line = page.split("\n").find((it) => it.startsWith(`${left} `));
  return line === undefined ? undefined : Number(line.slice(left.length + 1));
}
