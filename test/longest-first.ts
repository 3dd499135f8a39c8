/**
 * The order of test files: the longest begin first, so that none of them is waited for at the end. Vitest would go by the size of a file,
 * and `test/bare/bare.test.ts` has 38 lines.
 */
import type { Plugin } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** They take 35 seconds and more on two busy cores. Each begins before the others of its project. Paths below the root. */
export const LONGEST = [
  "test/bare/bare",
  "pi-agent/env/sandbox/sandbox-walk",
  "pi-agent/env/contract-files",
  "core/sentences/properties",
  "pi-agent/tools/programs/git-read",
  "tool-browser/browser",
  "pi-agent/process",
  "pi-agent/env/contract-programs",
  "bridge/rules/process",
  "test/e2e/agent-routing",
  "test/e2e/model-endpoint",
  "test/e2e/npm-start",
  "test/e2e/python-clients",
  "test/e2e/window",
  "test/e2e/litellm",
  "test/e2e/federation-killed",
  "test/e2e/cli",
  "test/e2e/broker-attacker",
  "test/e2e/gateway-disk",
  "test/e2e/mcp-programs",
  "test/e2e/client-litellm",
  "test/e2e/conditions",
  "test/e2e/upgrade-allowances",
  "test/e2e/client-openai-agents",
  "test/e2e/federation-grants",
  "test/e2e/deferred-update",
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
