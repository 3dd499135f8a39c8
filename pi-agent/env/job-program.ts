/** Runs the program of a job, and goes on with it after a restart of this process where its environment allows that. */
import { type ExecOps, type FollowOptions, ProgramLost, type Ran, type RunOptions } from "./environment.ts";

export type JobProgram = {
  /** The job's folder; undefined: the program ends with this process. */
  dir: string | undefined;
  /** Absent when an earlier process has started it. */
  argv?: readonly [string, ...string[]];
};

/**
 * @throws ExecError when it could not be started
 * @throws ProgramLost when nobody knows how it ended
 */
export async function runJobProgram(
  { run, detached }: ExecOps,
  { dir, argv }: JobProgram,
  { cwd, env, grants, ...following }: FollowOptions & Pick<RunOptions, "cwd" | "env" | "grants">,
): Promise<Ran> {
  const place = { ...(cwd !== undefined && { cwd }), ...(env && { env }), ...(grants && { grants }) };
  if (!detached || dir === undefined) {
    if (!argv) throw new ProgramLost("it has ended with the agent");
    return await run(argv, { ...place, ...following });
  }
  if (argv) await detached.start(argv, { dir, ...place });
  return await detached.follow(dir, following);
}
