/** Prints the last line of a run: how many tests were left out, and which programs they need. */
import type { Reporter, TestCase, TestModule } from "vitest/node";
import { NEEDS } from "./needs.ts";

/** Whether a test was left out, and its tags. */
export type LeftOut = { skipped: boolean; tags: readonly string[] };

export class NeedsReporter implements Reporter {
  readonly #missing: ReadonlySet<string>;

  /** @param missing tags whose program is missing */
  constructor(missing: ReadonlySet<string>) {
    this.#missing = missing;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const line = whatIsNeeded(tests.map(shortly), this.#missing);
    if (line !== undefined) process.stdout.write(`\n${line}\n`);
  }
}

function shortly(test: TestCase): LeftOut {
  return { skipped: test.result().state === "skipped", tags: test.tags };
}

/** @returns undefined when no test was left out because of a missing program */
export function whatIsNeeded(tests: readonly LeftOut[], missing: ReadonlySet<string>): string | undefined {
  const wants = tests
    .filter(({ skipped }) => skipped)
    .map(({ tags }) => tags.filter((tag) => missing.has(tag)))
    .filter((tags) => tags.length > 0);
  if (wants.length === 0) return undefined;
  const times = new Map<string, number>();
  for (const tag of wants.flat()) times.set(tag, (times.get(tag) ?? 0) + 1);
  const names = [...times].sort(([a, n], [b, m]) => m - n || a.localeCompare(b));
  const need =
    wants.length === 1 ? "1 test was left out: it needs" : `${wants.length} tests were left out: they need`;
  return `${need} ${names.map(([tag]) => tag.slice(NEEDS.length)).join(", ")}. \`.ci/run\` installs the programs.`;
}
