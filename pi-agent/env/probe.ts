/** Tells whether a program is there. One that did not answer is not missing: on a busy machine it answers later. */
import { messageOf } from "@edgecall/node/log.ts";
import { ExecError, type ExecOps, type Ran } from "./environment.ts";

/** A program tells its version in a hundredth of this; a board that has just booted may need all of it. */
export const PROBE_MS = 30_000;

/** The program may be there, and did not answer. The message names it. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

export type Looked = { exitCode: number; output: string };

/**
 * Starts a program to see whether it is there.
 *
 * @param look how it is started, harmlessly: `["ping", "-V"]`
 * @returns undefined when there is no such program
 * @throws NoAnswer when it failed otherwise: too slow, killed, or not started
 */
export async function lookFor(
  { run }: ExecOps,
  look: readonly [string, ...string[]],
  withinMs = PROBE_MS,
): Promise<Looked | undefined> {
  let output = "";
  let ran: Ran;
  try {
    ran = await run(look, {
      signal: AbortSignal.timeout(withinMs),
      onOutput: (chunk) => {
        output = (output + Buffer.from(chunk).toString()).slice(-2_000);
      },
    });
  } catch (error) {
    if (error instanceof ExecError && error.absent) return undefined;
    throw new NoAnswer(messageOf(error), { cause: error });
  }
  if (ran.stopped) throw new NoAnswer(`'${look[0]}' did not answer within ${withinMs / 1_000} s`);
  if (ran.exitCode === null) throw new NoAnswer(`'${look[0]}' was ended by ${ran.signal}`);
  // Over ssh, behind env and with a library missing, "not found" is an exit code.
  return ran.exitCode === 127 ? undefined : { exitCode: ran.exitCode, output: output.trim() };
}
