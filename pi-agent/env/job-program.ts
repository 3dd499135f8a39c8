/** Runs the program of a job, and goes on with it after a restart of this process where its environment allows that. */
import { type ExecOps, type FollowOptions, ProgramLost, type Ran, type RunOptions } from "./environment.ts";

export type JobProgram = {
  /** The job's folder; undefined: the program ends with this process. */
  dir: string | undefined;
  /** The program to start; absent when an earlier process has started it. */
  start?: JobStart;
};

/** `maxMs`: how long the job may take. */
export type JobStart = { argv: readonly [string, ...string[]]; maxMs: number };

/** The agent ends a job whose time is over. The supervisor does that only where no agent has, for so much longer. */
const WITHOUT_AGENT_MS = 60_000;

/** @throws ExecError when it could not be started @throws ProgramLost when nobody knows how it ended */
export async function runJobProgram(
  { run, detached }: ExecOps,
  { dir, start }: JobProgram,
  { cwd, env, grants, ...following }: FollowOptions & Pick<RunOptions, "cwd" | "env" | "grants">,
): Promise<Ran> {
  const place = { ...(cwd !== undefined && { cwd }), ...(env && { env }), ...(grants && { grants }) };
  if (!detached || dir === undefined) {
    if (!start) throw new ProgramLost("it has ended with the agent");
    return await run(start.argv, { ...place, ...following });
  }
  const endAfterMs = (start?.maxMs ?? 0) + WITHOUT_AGENT_MS;
  if (start) await detached.start(start.argv, { dir, endAfterMs, ...place });
  return await detached.follow(dir, following);
}
