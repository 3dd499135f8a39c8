/**
 * The order of test files: some long ones begin first, so that none of them is waited for at the end. Vitest would go by the size of a file,
 * and `test/bare/bare.test.ts` is a small one.
 */
import type { Plugin } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** A minute and more, mostly waited for, in files that are small. Each begins before the others of its project. Paths below the root. */
export const LONGEST = [
  "test/bare/bare",
  "core/sentences/properties",
  "test/e2e/automations-page",
  "test/e2e/console-layout",
].map((name) => `${name}.test.ts`);

/** The place in the list, and its length for a file that is not in it. */
function placeOf({ moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}`));
  return place === -1 ? LONGEST.length : place;
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // Files of a project stay together, since they share processes.
    const projects = [...new Set(sorted.map(({ project }) => project))];
    sorted.sort((a, b) => placeOf(a) - placeOf(b));
    return projects.flatMap((project) => sorted.filter((file) => file.project === project));
  }
}

/** Leaves the shuffled order of `--sequence.shuffle.files`. */
export const longestFirst: Plugin = {
  name: "longest-first",
  configureVitest({ vitest: { config } }) {
    if (config.sequence.sequencer === BaseSequencer) config.sequence.sequencer = LongestFirst;
  },
};
