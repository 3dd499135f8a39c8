/** All packages that are released together have one version. This test names those that were forgotten. */
import { readFileSync } from "node:fs";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { expect, test } from "vitest";

const ROOT = new URL("..", import.meta.url);
const versions = z.record(z.string(), z.string());
const Package = z.looseObject({
  version: z.string(),
  workspaces: z.optional(z.array(z.string())),
  dependencies: z.optional(versions),
});
const packageOf = (folder: string) =>
  Package.parse(JSON.parse(readFileSync(new URL(`${folder}package.json`, ROOT), "utf8")));

test("every package has the product's version, and requires no other version of ours", () => {
  const workspaces = packageOf("").workspaces ?? [];
  expect(workspaces.length).toBeGreaterThan(4);
  for (const folder of ["", ...workspaces.map((name) => `${name}/`)]) {
    const { version, dependencies = {} } = packageOf(folder);
    const ours = Object.entries(dependencies).filter(([name]) => name.startsWith("@edgecall/"));
    expect([folder, version, ...ours.map(([, wanted]) => wanted)]).toEqual([
      folder,
      VERSION,
      ...ours.map(() => VERSION),
    ]);
  }
  const lock = JSON.parse(readFileSync(new URL("package-lock.json", ROOT), "utf8"));
  expect(lock.packages[""].version).toBe(VERSION);
  for (const name of workspaces) expect([name, lock.packages[name].version]).toEqual([name, VERSION]);
});
