/** Stops a program of the local stack on a signal, or when the process that started it ends. */

/** One Ctrl-C arrives twice: the terminal signals the whole group, and npm forwards its own signal. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Runs `stop` once, then ends the process; a second signal ends it at once.
 * @param code 1 when a question stays unanswered
 */
export function onStop(stop: () => Promise<void>, code: 0 | 1 = 0): void {
  let stoppingSince: number | undefined;
  const end = () => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(code);
      return;
    }
    stoppingSince = performance.now();
    stop().then(
      () => process.exit(code),
      (error: unknown) => {
        console.error(`did not stop cleanly: ${error instanceof Error ? error.message : String(error)}`);
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", end);
  process.on("SIGTERM", end);
  // The terminal is gone, so nobody could stop the program any more.
  process.on("SIGHUP", end);
  process.on("disconnect", end);
}
