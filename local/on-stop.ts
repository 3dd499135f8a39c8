/** When a program of the local stack is to stop: a signal, or the end of the process that started it. */

/** One Ctrl-C comes twice: from the terminal to the whole group, and from npm, which passes its own on. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Runs `stop` once, then ends the process; a second signal ends it at once.
 * @param code 1 where something was asked for that now has no answer
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
  // The terminal is gone, and with it whoever could have stopped us.
  process.on("SIGHUP", end);
  process.on("disconnect", end);
}
