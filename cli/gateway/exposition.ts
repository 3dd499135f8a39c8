/** Reads Prometheus' text format (version 0.0.4), as far as sums need it. Pure. */

export type Sample = { name: string; labels: Readonly<Record<string, string>>; value: number };

/** Reads the samples. Comments and unreadable lines are skipped. */
export function readSamples(page: string): Sample[] {
  return page.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    if (name === undefined || value === undefined || Number.isNaN(Number(value))) return [];
    return [{ name, labels: readLabels(labels), value: Number(value) }];
  });
}

/** Sums a metric over all its series with these labels. */
export function total(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  return samples
    .filter((one) => one.name === name && Object.entries(labels).every(([key, is]) => one.labels[key] === is))
    .reduce((sum, { value }) => sum + value, 0);
}

function readLabels(text: string): Record<string, string> {
  const found = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...found].map(([, key = "", value = ""]) => [key, unescaped(value)]));
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, sign: string) => (sign === "n" ? "\n" : sign));
}
