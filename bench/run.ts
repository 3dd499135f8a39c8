/** The folder and the programs of one run of the bench. They end with it, however it ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MissingProgram } from "./mosquitto.ts";
import { Processes } from "./processes.ts";

/** The exit code after an interrupt, as shells have it. */
const EXIT_INTERRUPTED = 130;

export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** @param parent of its folder */
export function startRun(parent: string): {
  dir: string;
  processes: Processes;
  failed(error: unknown): void;
} {
  const dir = mkdtempSync(join(parent, "edgecall-bench-"));
  const processes = new Processes(dir);
  // Runs however this process ends: Miniflare has its own handler for an interrupt, which does not wait for ours.
  process.on("exit", () => {
    processes.killAll();
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => process.exit(EXIT_INTERRUPTED));
  return {
    dir,
    processes,
    failed(error) {
      process.exitCode = 1;
      if (error instanceof MissingProgram) return say(error.message);
      const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
      say(`the bench could not run: ${words}\n${processes.lastText()}`);
    },
  };
}
