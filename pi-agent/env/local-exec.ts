/** Runs programs on this machine without a sandbox: those that the owner trusts, and all with `sandboxing = "none"`. */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { mustBeOnPath } from "./absent-programs.ts";
import { cleanEnv } from "./clean-env.ts";
import { followDetached, isDetachable, startDetached } from "./detached.ts";
import { ExecError, type ExecOps } from "./environment.ts";
import { runProcess } from "./run-process.ts";

/** @param cwd absolute; programs start here or below, which does not limit what they do afterwards */
export function localExec(cwd: string): ExecOps {
  const run: ExecOps["run"] = async (argv, options) => {
    const env = cleanEnv(options.env);
    const folder = await workingFolder(cwd, options.cwd);
    return await runProcess(argv, { ...options, cwd: folder, env });
  };
  if (!isDetachable()) return { run };
  return {
    run,
    detached: {
      async start(argv, { dir, endAfterMs, ...options }) {
        const env = cleanEnv(options.env);
        // The supervisor's shell would report a missing program as exit code 127.
        await mustBeOnPath(argv[0], env.PATH ?? "");
        await startDetached(dir, { argv, cwd: await workingFolder(cwd, options.cwd), env, endAfterMs });
      },
      async follow(dir, options) {
        const { entered: _, ...ran } = await followDetached(dir, options);
        return ran;
      },
    },
  };
}

/**
 * Returns the folder to start in, without links.
 * @throws ExecError `cwd_missing`, or `blocked` when it leads out of `root`
 */
async function workingFolder(root: string, cwd = "."): Promise<string> {
  const wanted = resolve(root, cwd);
  let folder: string;
  let top: string;
  try {
    [folder, top] = await Promise.all([realpath(wanted), realpath(root)]);
    if (!(await stat(folder)).isDirectory()) throw new Error("not a directory");
  } catch (error) {
    throw new ExecError("cwd_missing", `The working directory '${cwd}' is not there.`, { cause: error });
  }
  if (!isBelow(top, folder))
    throw new ExecError("blocked", `The working directory '${cwd}' is outside the workspace.`);
  return folder;
}

/** True if a path is `root` or below it; both absolute and without links. */
export function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || !(way === ".." || way.startsWith("../") || isAbsolute(way));
}
