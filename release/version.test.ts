import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "@edgecall/node/places.ts";
import { expect, test } from "vitest";
// @ts-expect-error It is JavaScript, since a release is begun with any Node.
import { findFaults, writeVersion } from "./version.mjs";

const { workspaces } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  workspaces: string[];
};
const OPENAPI = "worker/features/console/public/openapi.json";
const FILES = [
  ...["", ...workspaces].map((folder) => join(folder, "package.json")),
  ...["package-lock.json", "CHANGELOG.md", "core/protocol/names.ts", OPENAPI],
  ...["bridge/compose.yaml", "local/home-gateway/compose.yaml", "bridge/home-assistant/config.yaml"],
];

/** The files of this repository that have the version. */
function copy(): string {
  const root = mkdtempSync(join(tmpdir(), "edgecall-version-"));
  for (const file of FILES) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(join(ROOT, file), join(root, file));
  }
  return root;
}

test("this repository has one version", () => {
  expect(findFaults(ROOT)).toEqual([]);
});

test("a new version is written wherever the old one stood, and a forgotten place is named", () => {
  const root = copy();
  writeVersion(root, "9.8.7");
  // `npm run api` makes this one.
  expect(findFaults(root)).toEqual([`${OPENAPI}: ${readVersion(ROOT)}, and package.json has 9.8.7`]);
  const made = readFileSync(join(root, OPENAPI), "utf8");
  writeFileSync(join(root, OPENAPI), made.replace(`"version": "${readVersion(ROOT)}"`, '"version": "9.8.7"'));
  expect(findFaults(root)).toEqual([]);
  const names = readFileSync(join(root, "core/protocol/names.ts"), "utf8");
  expect(names).toContain('VERSION = "9.8.7"');
  for (const file of FILES.filter((name) => name.endsWith("package.json")))
    expect(readFileSync(join(root, file), "utf8")).not.toContain(`"${readVersion(ROOT)}"`);
  writeFileSync(join(root, "bridge/compose.yaml"), readFileSync(join(ROOT, "bridge/compose.yaml"), "utf8"));
  expect(findFaults(root)[0]).toMatch(/^bridge\/compose\.yaml: /);
});

test("writing the version that stands there changes no file", () => {
  const root = copy();
  writeVersion(root, readVersion(ROOT));
  for (const file of FILES)
    expect(readFileSync(join(root, file), "utf8"), file).toBe(readFileSync(join(ROOT, file), "utf8"));
});

test("a tag is compared, and its version has a heading of the changelog", () => {
  const root = copy();
  writeFileSync(join(root, "CHANGELOG.md"), "# Changelog\n\n## 0.9.9 (unreleased)\n");
  const version = readVersion(root);
  expect(findFaults(root, "v0.0.1")).toEqual([
    `the tag is v0.0.1, and package.json has ${version}`,
    expect.stringContaining(`expected the heading '## ${version}'`),
  ]);
  writeFileSync(join(root, "CHANGELOG.md"), `# Changelog\n\n## ${version}\n`);
  expect(findFaults(root, `v${version}`)).toEqual([]);
});

test.each(["1.2", "v1.2.3", "latest", ""])("'%s' is no version", (version) => {
  expect(() => writeVersion(copy(), version)).toThrow("expected a version such as 0.4.0");
});

function readVersion(root: string): string {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
}
