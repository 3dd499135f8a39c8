#!/usr/bin/env node
/**
 * The product's version, wherever it stands.
 *
 *   node release/version.mjs 0.4.0              writes it; then `npm run api` writes openapi.json
 *   node release/version.mjs --check [v0.4.0]   compares all of them, the changelog, and the tag if one is given
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const VERSION = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/** Files that are no package.json, each with the text before a version. */
const TEXTS = [
  ["core/protocol/names.ts", 'export const VERSION = "'],
  ["bridge/compose.yaml", "EDGECALL_VERSION:-"],
  ["local/home-gateway/compose.yaml", "EDGECALL_VERSION:-"],
  ["bridge/home-assistant/config.yaml", 'version: "'],
];
/** Made by `npm run api` of the first of them. */
const MADE = ["worker/features/console/public/openapi.json", '"version": "'];

const readJson = (root, path) => JSON.parse(readFileSync(join(root, path), "utf8"));
const writeJson = (root, path, value) =>
  writeFileSync(join(root, path), `${JSON.stringify(value, null, 2)}\n`);
/** A version that stands after this text: its marks are plain text. */
const after = (text) =>
  new RegExp(`(${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")})(\\d+\\.\\d+\\.\\d+(?:-[\\w.]+)?)`, "g");
const packages = (root) => ["", ...readJson(root, "package.json").workspaces];
const ofUs = (dependencies = {}) => Object.keys(dependencies).filter((name) => name.startsWith("@edgecall/"));

/** Writes the version in all places but the one that is made. */
export function writeVersion(root, version) {
  if (!VERSION.test(version)) throw new Error(`expected a version such as 0.4.0, got '${version}'`);
  const lock = readJson(root, "package-lock.json");
  lock.version = version;
  for (const folder of packages(root)) {
    const path = join(folder, "package.json");
    const manifest = readJson(root, path);
    for (const one of [manifest, lock.packages[folder]]) {
      one.version = version;
      for (const name of ofUs(one.dependencies)) one.dependencies[name] = version;
    }
    writeJson(root, path, manifest);
  }
  writeJson(root, "package-lock.json", lock);
  for (const [path, before] of TEXTS) {
    const file = join(root, path);
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(after(before), (_, start) => start + version),
    );
  }
}

/** @returns what is wrong, one sentence each; none: all places have one version, and the changelog tells of it */
export function findFaults(root, tag) {
  const { version } = readJson(root, "package.json");
  const lock = readJson(root, "package-lock.json");
  const found = [["package-lock.json", lock.version]];
  for (const folder of packages(root)) {
    const manifest = readJson(root, join(folder, "package.json"));
    for (const [where, one] of [
      [join(folder, "package.json"), manifest],
      [`package-lock.json, ${folder || "root"}`, lock.packages[folder] ?? {}],
    ])
      found.push(
        [where, one.version],
        ...ofUs(one.dependencies).map((name) => [`${where}, ${name}`, one.dependencies[name]]),
      );
  }
  for (const [path, before] of [...TEXTS, MADE]) {
    const versions = [...readFileSync(join(root, path), "utf8").matchAll(after(before))].map(
      ([, , text]) => text,
    );
    if (versions.length === 0) found.push([path, "none"]);
    // In openapi.json other versions follow the document's own.
    else found.push(...(path === MADE[0] ? versions.slice(0, 1) : versions).map((text) => [path, text]));
  }
  const faults = found
    .filter(([, is]) => is !== version)
    .map(([where, is]) => `${where}: ${is}, and package.json has ${version}`);
  if (tag !== undefined && tag !== `v${version}`)
    faults.push(`the tag is ${tag}, and package.json has ${version}`);
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const [core] = version.split("-");
  if (tag !== undefined && !new RegExp(`^## ${core.replaceAll(".", "\\.")}$`, "m").test(changelog))
    faults.push(`CHANGELOG.md: expected the heading '## ${core}', without "(unreleased)"`);
  return faults;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [word, tag] = process.argv.slice(2);
  if (word === undefined) throw new Error("usage: node release/version.mjs VERSION | --check [TAG]");
  if (word !== "--check") writeVersion(ROOT, word);
  else {
    const faults = findFaults(ROOT, tag);
    for (const fault of faults) console.error(fault);
    process.exitCode = faults.length === 0 ? 0 : 1;
  }
}
