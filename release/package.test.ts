import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@edgecall/node/places.ts";
import { transform } from "esbuild";
import { expect, test } from "vitest";
import { WRANGLER_VERSION } from "../local/deploy/wrangler-file.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

test("the package's first file is old syntax, so that an old Node reads as far as the message", async () => {
  // esbuild refuses what it cannot write for such an engine, and would change the rest.
  const code = read("release/edgecall.cjs");
  const [old, same] = await Promise.all(["es5", "esnext"].map((target) => transform(code, { target })));
  expect(old?.code).toBe(same?.code);
});

test("the package fetches the wrangler that this repository pins", () => {
  expect(JSON.parse(read("package.json")).devDependencies.wrangler).toBe(WRANGLER_VERSION);
});
