/**
 * Checks that a program exists before it is started. A start first copies the page tables of this process, and only then
 * finds that there is no program. On a small device that blocks everything for 10 ms and more, and at its start the agent
 * looks for a dozen programs of which most devices have few.
 */
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { cleanEnv } from "./clean-env.ts";
import { ExecError, type ExecOps } from "./environment.ts";

/** @param exec runs programs on this machine, with the same PATH */
export function withProgramCheck(exec: ExecOps, path = cleanEnv().PATH ?? ""): ExecOps {
  const { detached } = exec;
  return {
    async run(argv, options) {
      await mustBeOnPath(argv[0], path);
      return await exec.run(argv, options);
    },
    ...(detached && {
      detached: {
        ...detached,
        async start(argv, options) {
          await mustBeOnPath(argv[0], path);
          await detached.start(argv, options);
        },
      },
    }),
  };
}

/** @throws ExecError when a program that is given by its name is not there */
export async function mustBeOnPath(program: string, path: string): Promise<void> {
  if (program.includes("/") || (await isOnPath(program, path))) return;
  throw new ExecError("spawn_failed", `'${program}' could not be started: there is no such program.`, {
    absent: true,
  });
}

async function isOnPath(program: string, path: string): Promise<boolean> {
  const looks = path.split(":").map((folder) => access(join(folder, program), constants.X_OK));
  return (await Promise.allSettled(looks)).some(({ status }) => status === "fulfilled");
}
