/** The agent as one file: from this working tree, or from an earlier commit for comparison. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BUNDLE = "process.stdout.write(await (await import(process.argv[1])).bundleAgent())";
/** The bundle has half a megabyte. */
const MAX_BYTES = 64 * 1024 * 1024;

/** @param tree the folder of the sources. @returns the bundle's path, below `dir` */
export function bundledAgent(dir: string, name: string, tree = ROOT): string {
  const node = [
    process.execPath,
    "--input-type=module",
    "-e",
    BUNDLE,
    join(tree, "local/bundles.ts"),
  ] as const;
  const [program, ...args] = node;
  const bundle = execFileSync(program, args, { cwd: tree, maxBuffer: MAX_BYTES });
  const path = join(dir, `${name}.cjs`);
  writeFileSync(path, bundle);
  return path;
}

/** Checks out the sources of a commit, with today's packages and its own workspaces. @returns their folder */
export function treeOf(dir: string, commit: string): string {
  const tree = join(dir, `tree-${commit}`);
  mkdirSync(join(tree, "node_modules/@edgecall"), { recursive: true });
  const archive = execFileSync("git", ["archive", commit], { cwd: ROOT, maxBuffer: MAX_BYTES });
  execFileSync("tar", ["x", "-C", tree], { input: archive });
  for (const name of readdirSync(join(ROOT, "node_modules")))
    if (name !== "@edgecall") symlinkSync(join(ROOT, "node_modules", name), join(tree, "node_modules", name));
  for (const name of readdirSync(join(ROOT, "node_modules/@edgecall")))
    symlinkSync(join(tree, name), join(tree, "node_modules/@edgecall", name));
  return tree;
}
