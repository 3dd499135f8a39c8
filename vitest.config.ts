import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { testVars } from "./test/tokens.ts";

const IN_NODE = ["core", "bridge", "pi-agent", "local", "test/chaos", "test/bench"].map(
  (folder) => `${folder}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: [...IN_NODE, "worker/**/*.unit.test.ts"], environment: "node" } },
      {
        plugins: [
          cloudflareTest(({ inject }) => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: { bindings: { ...testVars, LLM_BASE_URL: inject("modelUrl") } },
          })),
        ],
        test: {
          name: "worker",
          globalSetup: ["./test/model-setup.ts"],
          include: ["worker/**/*.test.ts"],
          exclude: ["worker/**/*.unit.test.ts", "**/node_modules/**"],
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Each file runs whole programs; two at once would measure each other.
          fileParallelism: false,
        },
      },
    ],
  },
});
