/** When a program of the local stack is to stop: a signal, or the end of the process that started it. */

/** Runs `stop` once, then ends the process; a second signal ends it at once. */
export function onStop(stop: () => Promise<void>): void {
  let stopping = false;
  const end = (code: number) => {
    if (stopping) process.exit(code);
    stopping = true;
    stop().then(
      () => process.exit(code),
      (error: unknown) => {
        console.error(`did not stop cleanly: ${error instanceof Error ? error.message : String(error)}`);
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", () => end(0));
  process.on("SIGTERM", () => end(0));
  // The terminal is gone, and with it whoever could have stopped us.
  process.on("SIGHUP", () => end(0));
  process.on("disconnect", () => end(0));
}
