/** Finds out whether a program is installed. One that did not answer may answer later, when the machine is less busy. */
import { messageOf } from "@edgecall/node/log.ts";
import { ExecError, type ExecOps, type Ran } from "./environment.ts";

/** A program usually prints its version in a hundredth of this time, but a board that has just booted may need all of it. */
export const PROBE_MS = 30_000;

/** The program may be installed but did not answer. The message names it. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

export type Looked = { exitCode: number; output: string };

/**
 * Starts a program to find out whether it is installed.
 * @param look a harmless command: `["ping", "-V"]`
 * @returns undefined when the program is missing
 * @throws NoAnswer for other failures: too slow, killed, or not started
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
  // Over ssh, through env, or with a missing library, "not found" is an exit code.
  return ran.exitCode === 127 ? undefined : { exitCode: ran.exitCode, output: output.trim() };
}
