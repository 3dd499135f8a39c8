import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NODE_ENVIRONMENT, NODE_FLAGS } from "./node-options.ts";

const VARIABLES = Object.entries(NODE_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("the command that starts an agent has the flags and the variables", () => {
  const { scripts } = JSON.parse(text("package.json")) as { scripts: Record<string, string> };
  const start = [...VARIABLES, "node", ...NODE_FLAGS].join(" ");
  expect(scripts["pi-agent"]).toContain(`env ${start} `);
});

/** Allocates and drops memory that lives for a while, and prints the size of its young generation. */
const CHURN = `
const kept = [];
for (let n = 0; n < 2e6; n += 1) kept[n % 1e5] = [n];
const spaces = require("node:v8").getHeapSpaceStatistics();
console.log(spaces.find((one) => one.space_name === "new_space").space_size);
`;

test("Node accepts the flags, and they keep its young generation small", () => {
  const young = (flags: readonly string[]) =>
    Number(execFileSync(process.execPath, [...flags, "-e", CHURN], { encoding: "utf8" }));
  const mib = 1024 * 1024;
  expect(young([])).toBeGreaterThan(8 * mib);
  expect(young(NODE_FLAGS)).toBeLessThanOrEqual(2 * mib);
});
