import { availableParallelism } from "node:os";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { longestFirst } from "./test/longest-first.ts";
import { needsTags } from "./test/needs.ts";
import { NeedsReporter } from "./test/needs-reporter.ts";
import { testProgram, testVars } from "./test/tokens.ts";

const IN_NODE = [
  "core",
  "discovery",
  "node",
  "bridge",
  "pi-agent",
  "tool-browser",
  "tool-mcp",
  "local",
  "cli",
  "client",
  "bench",
  "release",
  "test/approvals",
  "test/chaos",
  "test/hostile",
  "test/sentences",
].map((folder) => `${folder}/**/*.test.ts`);
IN_NODE.push("test/*.test.ts");

/** Random walks, kills, sleeps, long tables and repeated contracts, five seconds and more each: `npm test` leaves them to `npm run test:all`. */
const LONG = [
  "bridge/automations/attacks",
  "bridge/devices/devices",
  "bridge/devices/process",
  "bridge/gateway/many-agents",
  "bridge/rules/process",
  "bridge/rules/publishers",
  "cli/agent/doctor",
  "core/loop/fit",
  "core/sentences/properties",
  "discovery/publisher-walk",
  "discovery/mqtt/template/names",
  "discovery/mqtt/trust/allow-hash",
  "local/gateway",
  "local/polling/polling",
  "pi-agent/killed",
  "pi-agent/linear-time",
  "pi-agent/optional",
  "pi-agent/rules/killed",
  "pi-agent/link/duplicate",
  "pi-agent/env/contract-files",
  "pi-agent/env/contract-programs",
  "pi-agent/process",
  "pi-agent/serve/file-attempts",
  "pi-agent/env/sandbox/sandbox-walk",
  "pi-agent/skills/examples",
  "pi-agent/toolbox/presets",
  "pi-agent/tools/files/unified-diff",
  "pi-agent/tools/machine/update-self",
  "test/otel-collector",
  "tool-browser/browser",
  "tool-browser/sandbox-arguments",
  "tool-mcp/servers",
  "pi-agent/tools/programs/exec-guard-contained",
  "pi-agent/tools/programs/bash-cases",
  "pi-agent/tools/programs/git-read",
  "pi-agent/tools/programs/nodes",
  "worker/features/chat/platforms/format/format.unit",
  "worker/features/mcp/serve.unit",
].map((name) => `${name}.test.ts`);
const LONG_IN_WORKERD = [
  "worker/widening",
  "worker/kernel/home/agents/fleet",
  "worker/kernel/home/agents/home-roster",
  "worker/kernel/http/wait",
  "worker/kernel/home/permissions/thirty-days",
  "worker/kernel/conversation/remote-cases",
  "worker/kernel/conversation/sleep",
  "worker/kernel/conversation/states-calls",
  "worker/kernel/conversation/states-ends",
  "worker/kernel/conversation/states-model",
  "worker/kernel/home/states-home",
  "worker/kernel/home/states-home-people",
  "worker/kernel/home/taint-walk",
].map((name) => `${name}.test.ts`);

/** They wait for minutes and do next to nothing. */
const IDLE = [
  "automations-idle",
  "console-speaks",
  "idle",
  "mcp-patience",
  "readme",
  "slow-model",
  "speaks-first",
  "speaks-first-literal",
  "speaks-first-quiet",
  "speaks-first-sentences",
  "speaks-first-plain",
  "watch-goes-on",
  "watch-idle",
].map((name) => `test/e2e/${name}.test.ts`);

/**
 * Of the tests that start the whole product, `npm test` runs these: a file for most doors and promises. All others are in
 * `slow`, `alone`, `bounds` and `nightly`: `npm run test:all`, and CI.
 */
const EACH_TIME = ["actions", "mcp", "once", "openai", "pairing", "restarts", "tools-flows"].map(
  (name) => `test/e2e/${name}.test.ts`,
);
/** These boot a machine, take fixed ports, hold requests by the hundred, or mean a bound in time: nothing runs beside them. */
const ALONE = [
  "crash",
  "deploy",
  "hostile-requests",
  "many",
  "npm-start-device",
  "npm-start-killed",
  "own-broker",
  "stolen-broker",
  "with-bridge",
].map((name) => `test/e2e/${name}.test.ts`);
// Bounds in processor time; and programs whose writes are measured by what the disk loses.
ALONE.push(
  "bench/start.test.ts",
  "worker/features/chat/platforms/format/hostile-text.unit.test.ts",
  "pi-agent/env/bounded-writes.test.ts",
  "pi-agent/env/write-attempts.test.ts",
);

/** A bound in time is meant here, too, but they wait nearly all of it: some run beside each other, and nothing else does. */
const BOUNDS = [
  "channels-crash",
  "channels-slow",
  "half-open",
  "home-assistant-devices",
  "keep-alive",
  "presence",
].map((name) => `test/e2e/${name}.test.ts`);
const BOUNDS_AT_ONCE = 3;

/**
 * Further machines, images, programs of others and whole runs, which take long: `.ci/nightly`. Each has relatives among the tests of
 * every change, which would notice most of what these notice.
 */
const NIGHTLY = [
  "bridge-service",
  "devices-publishers",
  "home-assistant",
  "home-assistant-side-by-side",
  "home-assistant-sign-in",
  "power",
  "service",
  "trial",
  "update-service",
  "watch-publishers",
].map((name) => `test/e2e/${name}.test.ts`);
NIGHTLY.push("test/image/**/*.test.ts", "test/bare/{package,whole}.test.ts");

/** As patient as test/wait.ts: expect.poll of its own gives up after 1 s. */
const POLL = { expect: { poll: { timeout: 15_000 } } };
/** Hooks start whole programs, several files at a time, beside tests that compute. */
const PATIENT = {
  testTimeout: 60_000,
  hookTimeout: 120_000,
  globalSetup: ["./test/gateway-setup.ts"],
  ...POLL,
};
const ONE_BY_ONE = { ...PATIENT, fileParallelism: false };
/** In one process, as those of `unit`. */
const WHOLE = { ...PATIENT, isolate: false, setupFiles: ["./test/as-found.ts"] };

/** More than the processors: most tests wait for something more than half of their time. */
const WORKERS = availableParallelism() + 5;
/** Fewer, since each file starts several programs with time limits of their own. */
const WHOLE_PRODUCTS = availableParallelism() + 3;

const TAGS = needsTags();
const MISSING = new Set(TAGS.filter(({ skip }) => skip).map(({ name }) => name));

/** Each project has a plugin of its own. */
const inWorkerd = () => ({
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
});
/** A machine under load takes its time; what is slow is told by the bench, not by a test. */
const SHORT = { testTimeout: 20_000, hookTimeout: 20_000, maxWorkers: WORKERS, ...POLL };
/** A group of their own: in shuffled order, too, a file then follows one of its own project, and takes over its workerd. */
const WITH_MODEL = { ...SHORT, globalSetup: ["./test/model-setup.ts"], sequence: { groupOrder: 1 } };

export default defineConfig({
  plugins: [longestFirst],
  test: {
    tags: TAGS,
    globalSetup: ["./test/run-folder.ts"],
    reporters: ["default", new NeedsReporter(MISSING)],
    // Output is shown only of tests that failed.
    silent: "passed-only",
    projects: [
      {
        test: {
          name: "unit",
          include: [...IN_NODE, "worker/**/*.unit.test.ts"],
          exclude: [...LONG, ...ALONE, "**/node_modules/**"],
          ...SHORT,
          // To load the same modules for each file anew took as long as the tests.
          isolate: false,
          setupFiles: ["./test/as-found.ts", "./test/search-words.ts"],
        },
      },
      {
        test: {
          // Fewer at a time, and patient: each computes for seconds, or starts programs.
          name: "long",
          include: LONG,
          ...SHORT,
          testTimeout: PATIENT.testTimeout,
          maxWorkers: WHOLE_PRODUCTS,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          // Vitest begins with the first name of the alphabet: the others are run while this one waits.
          name: "idle",
          include: IDLE,
          ...WHOLE,
          maxWorkers: WORKERS,
        },
      },
      {
        ...inWorkerd(),
        test: {
          name: "worker",
          include: ["worker/**/*.test.ts"],
          exclude: ["worker/**/*.unit.test.ts", ...LONG_IN_WORKERD, "**/node_modules/**"],
          ...WITH_MODEL,
          isolate: false,
          setupFiles: ["./test/empty-homes.ts", "./test/search-words.ts"],
        },
      },
      {
        ...inWorkerd(),
        test: {
          // Each waits for long, so they fill what the programs of `slow` leave.
          name: "worker-long",
          include: LONG_IN_WORKERD,
          ...WITH_MODEL,
          setupFiles: ["./test/search-words.ts"],
          maxWorkers: WHOLE_PRODUCTS,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: "e2e",
          include: EACH_TIME,
          // In one group with those in workerd: both wait more than they compute.
          ...WHOLE,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "slow",
          include: ["test/e2e/**/*.test.ts", "test/bare/bare.test.ts"],
          exclude: [...IDLE, ...EACH_TIME, ...ALONE, ...BOUNDS, ...NIGHTLY, "**/node_modules/**"],
          ...WHOLE,
          maxWorkers: WHOLE_PRODUCTS,
          sequence: { groupOrder: 2 },
        },
      },
      { test: { name: "alone", include: ALONE, ...ONE_BY_ONE } },
      {
        test: {
          name: "bounds",
          include: BOUNDS,
          ...WHOLE,
          maxWorkers: BOUNDS_AT_ONCE,
          sequence: { groupOrder: 3 },
        },
      },
      { test: { name: "nightly", include: NIGHTLY, ...ONE_BY_ONE } },
    ],
  },
});
