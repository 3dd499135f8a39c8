/** `npm run check`: imports, names of classes, types of every tsconfig.json, what nobody uses, then format and lint over everything. */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sharedClassNames } from "./class-names.ts";
import { findCircles, findForbidden, readImports } from "./imports.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const bin = (name: string) => join(ROOT, "node_modules", ".bin", name);

const projects = globSync("*/**/tsconfig*.json", {
  cwd: ROOT,
  exclude: ["node_modules", "dist", "**/node_modules"],
}).sort();
if (projects.length === 0) throw new Error(`no tsconfig.json below ${ROOT}`);

const steps = [
  // The types of the client, which are not in git.
  { name: "types of the API", command: process.execPath, args: [join(ROOT, "local/api/main.ts"), "--types"] },
  ...projects.map((project) => ({ name: `types  ${project}`, command: bin("tsc"), args: ["-p", project] })),
  // knip.jsonc says where it begins to look.
  { name: "unused", command: bin("knip"), args: ["--no-progress", "--treat-config-hints-as-errors"] },
  {
    name: "format, lint",
    command: bin("biome"),
    args: ["ci", "--error-on-warnings", `--colors=${process.stdout.isTTY ? "force" : "off"}`, "."],
  },
];

// A workspace that came with a pull has no link yet, and every type below would be missing.
for (const workspace of JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).workspaces as string[])
  if (!existsSync(join(ROOT, "node_modules/@edgecall", workspace)))
    throw new Error(`the workspace ${workspace} is not linked: run npm install`);

let failed = 0;

const imports = readImports(ROOT);
const faults = [
  ...findCircles(imports).map((circle) => `these import each other:\n  ${circle.join("\n  ")}`),
  ...findForbidden(imports).map((arrow) => `no program may import this (local/imports.ts): ${arrow}`),
  ...sharedClassNames(
    [...imports.keys()]
      // A Worker of bench/ wraps the objects, and wrangler.toml binds their classes by name.
      .filter((path) => !path.startsWith("bench/"))
      .map((path) => [path, readFileSync(join(ROOT, path), "utf8")] as const),
  ).map((found) => `several exported classes have this name: ${found}`),
];
if (faults.length > 0) failed += 1;
console.log(`${faults.length === 0 ? "ok  " : "FAIL"} imports, class names  (${imports.size} sources)`);
if (faults.length > 0) console.log(faults.join("\n"));

for (const { name, command, args } of steps) {
  if (!existsSync(command)) throw new Error(`${command} is not there: run npm install`);
  const began = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: "utf8" });
  const ok = status === 0;
  if (!ok) failed += 1;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}  (${Math.round(performance.now() - began)} ms)`);
  if (!ok) console.log(`${stdout}${stderr}`.trimEnd());
}
console.log(failed === 0 ? "all checks passed" : `${failed} of ${steps.length + 1} checks failed`);
process.exit(failed === 0 ? 0 : 1);
