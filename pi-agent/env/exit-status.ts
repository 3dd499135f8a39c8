/** Reads the exit codes of shells. */
import type { Ran } from "./environment.ts";

/**
 * Converts the exit code 128 + N, with which a shell or bwrap reports a program killed by signal N. A program that exits with
 * such a code by itself also counts as killed; only shells do that.
 */
export function toShellExit(ran: Ran): Ran {
  const signal = ran.exitCode === null ? undefined : SIGNALS.get(ran.exitCode - 128);
  return signal === undefined ? ran : { ...ran, exitCode: null, signal };
}

/** Signals that end a program, with numbers that are the same on all Linux architectures. */
const SIGNALS: ReadonlyMap<number, string> = new Map([
  [1, "SIGHUP"],
  [2, "SIGINT"],
  [3, "SIGQUIT"],
  [4, "SIGILL"],
  [6, "SIGABRT"],
  [8, "SIGFPE"],
  [9, "SIGKILL"],
  [11, "SIGSEGV"],
  [13, "SIGPIPE"],
  [14, "SIGALRM"],
  [15, "SIGTERM"],
  [25, "SIGXFSZ"],
]);
