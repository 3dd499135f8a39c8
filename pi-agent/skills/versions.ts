const NUMBER = /^\d+$/;

/**
 * Orders versions of a tool. `1.10` is above `1.9`, a pre-release (`2.0.0-rc1`) below its release, and no version below all
 * others. Text after a `+` is ignored.
 * @returns a negative number when `a` is older
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  return compareParts(left.release, right.release) || comparePre(left.pre, right.pre);
}

function partsOf(version: string): { release: string[]; pre: string[] } {
  const [core = ""] = version.replace(/^v(?=\d)/, "").split("+");
  const dash = core.indexOf("-");
  const [release, pre] = dash < 0 ? [core, ""] : [core.slice(0, dash), core.slice(dash + 1)];
  return { release: split(release), pre: split(pre) };
}

function split(text: string): string[] {
  return text === "" ? [] : text.split(".");
}

function comparePre(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  return compareParts(a, b);
}

function compareParts(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const difference = comparePart(a[at], b[at]);
    if (difference !== 0) return difference;
  }
  // 1.0 equals 1.0.0, and any version is above none.
  return Math.sign(a.length) - Math.sign(b.length);
}

/** A number is below a word, as in semver. */
function comparePart(a = "0", b = "0"): number {
  const [left, right] = [NUMBER.test(a), NUMBER.test(b)];
  if (left && right) return Number(a) - Number(b);
  if (left !== right) return left ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
