/** `npm run check`: types of every tsconfig.json, then format and lint over everything. */
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const bin = (name: string) => join(ROOT, "node_modules", ".bin", name);

const projects = globSync("*/**/tsconfig*.json", {
  cwd: ROOT,
  exclude: ["node_modules", "dist", "**/node_modules"],
}).sort();
if (projects.length === 0) throw new Error(`no tsconfig.json below ${ROOT}`);

const steps = [
  ...projects.map((project) => ({ name: `types  ${project}`, command: bin("tsc"), args: ["-p", project] })),
  {
    name: "format, lint",
    command: bin("biome"),
    args: ["ci", "--error-on-warnings", `--colors=${process.stdout.isTTY ? "force" : "off"}`, "."],
  },
];

let failed = 0;
for (const { name, command, args } of steps) {
  if (!existsSync(command)) throw new Error(`${command} is not there: run npm install`);
  const began = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: "utf8" });
  const ok = status === 0;
  if (!ok) failed += 1;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}  (${Math.round(performance.now() - began)} ms)`);
  if (!ok) console.log(`${stdout}${stderr}`.trimEnd());
}
console.log(failed === 0 ? "all checks passed" : `${failed} of ${steps.length} checks failed`);
process.exit(failed === 0 ? 0 : 1);
