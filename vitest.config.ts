import { availableParallelism } from "node:os";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { needsTags } from "./test/needs.ts";
import { NeedsReporter } from "./test/needs-reporter.ts";
import { testProgram, testVars } from "./test/tokens.ts";

const IN_NODE = [
  "core",
  "bridge",
  "pi-agent",
  "local",
  "cli",
  "test/chaos",
  "test/bench",
  "test/hostile",
].map((folder) => `${folder}/**/*.test.ts`);
IN_NODE.push("test/*.test.ts");

/** They wait for minutes and do next to nothing. */
const IDLE = ["test/e2e/idle.test.ts", "test/e2e/slow-model.test.ts"];

/**
 * Of the tests that start the whole product, `npm test` runs these: a file for each door and each promise, together
 * about a minute and a half. All others are in `slow`: `npm run test:all`, and CI.
 */
const EACH_TIME = [
  "actions",
  "broken-frames",
  "console-approvals",
  "limits",
  "mcp",
  "once",
  "openai",
  "pairing",
  "relay",
  "restarts",
  "tokens",
  "tools-flows",
  "versions",
].map((name) => `test/e2e/${name}.test.ts`);
/** Each file runs whole programs; two at once would measure each other. */
const WHOLE_PROGRAMS = { testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false };

/**
 * Of what may run side by side: one more than vitest's own choice, since `idle` holds one for three minutes and
 * does next to nothing. One number for the three projects: vitest runs only such at the same time.
 */
const WORKERS = Math.max(availableParallelism() - 1, 1) + 1;

const TAGS = needsTags();
const MISSING = new Set(TAGS.filter(({ skip }) => skip).map(({ name }) => name));

export default defineConfig({
  test: {
    tags: TAGS,
    reporters: ["default", new NeedsReporter(MISSING)],
    projects: [
      {
        test: {
          name: "unit",
          // A machine under load takes its time; what is slow is told by the bench, not by a test.
          testTimeout: 20_000,
          include: [...IN_NODE, "worker/**/*.unit.test.ts"],
          environment: "node",
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          // Vitest begins with the first name of the alphabet: the others are run while this one waits.
          name: "idle",
          include: IDLE,
          // Whole programs start while everything else does.
          hookTimeout: 60_000,
          maxWorkers: WORKERS,
        },
      },
      {
        plugins: [
          cloudflareTest(({ inject }) => ({
            wrangler: { configPath: "./wrangler.toml" },
            // Else Workers AI would be asked for at Cloudflare, which wants an account.
            remoteBindings: false,
            miniflare: { bindings: { ...testVars, LLM_BASE_URL: inject("modelUrl") } },
          })),
        ],
        // As the build defines it.
        define: { EDGECALL_PROGRAM: JSON.stringify(testProgram) },
        test: {
          name: "worker",
          testTimeout: 20_000,
          globalSetup: ["./test/model-setup.ts"],
          include: ["worker/**/*.test.ts"],
          exclude: ["worker/**/*.unit.test.ts", "**/node_modules/**"],
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          name: "e2e",
          include: EACH_TIME,
          ...WHOLE_PROGRAMS,
        },
      },
      {
        test: {
          name: "slow",
          include: ["test/e2e/**/*.test.ts", "test/image/**/*.test.ts"],
          exclude: [...IDLE, ...EACH_TIME, "**/node_modules/**"],
          ...WHOLE_PROGRAMS,
        },
      },
      // A whole run of the tests within a test: `npm run test:bare`, by itself on a quiet machine.
      { test: { name: "bare", include: ["test/bare/**/*.test.ts"], ...WHOLE_PROGRAMS } },
    ],
  },
});
