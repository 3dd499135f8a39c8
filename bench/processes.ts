/** Child processes of the bench, none of which outlives it, however it ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/**
 * A shell that starts the program, tells its id, and kills it when the shell's input ends: the kernel closes
 * that pipe however the bench dies. So Mosquitto and a bare Node, which know nothing of us, end with it too.
 * The program's output goes to its log (the shell's stderr), so that it does not mix with the id.
 */
const LEASH = '"$@" >&2 & echo $!; read -r _; kill -9 $! 2>/dev/null';
/** Lines of a child's log that help when something did not come up. */
const LOG_TAIL = 15;

export type Leashed = { pid: number; name: string };

export class Processes {
  readonly #dir: string;
  readonly #running = new Map<string, { shell: ChildProcess; pid: number }>();

  /** @param dir where the logs of the children go */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Starts a program; its output goes to a log file. It runs, but need not be ready, when this returns. */
  async start(name: string, command: string[], env: Record<string, string> = {}): Promise<Leashed> {
    const file = openSync(join(this.#dir, `${name}.log`), "a");
    const shell = spawn("/bin/sh", ["-c", LEASH, "sh", ...command], {
      stdio: ["pipe", "pipe", file],
      env: { ...process.env, ...env },
      // Ctrl-C at the terminal ends the bench alone, and the bench its children.
      detached: true,
    });
    closeSync(file);
    const { stdin, stdout } = shell;
    if (!stdin || !stdout) throw new Error(`${name} could not be started`);
    stdin.on("error", () => {});
    const pid = await new Promise<number>((resolve, reject) => {
      createInterface({ input: stdout }).once("line", (line) => resolve(Number(line)));
      shell.once("error", reject);
    });
    this.#running.set(name, { shell, pid });
    return { pid, name };
  }

  names(): string[] {
    return [...this.#running.keys()];
  }

  async endAll(): Promise<void> {
    await Promise.all(this.names().map((name) => this.end(name)));
  }

  async end(name: string): Promise<void> {
    const child = this.#running.get(name);
    if (!child) return;
    this.#running.delete(name);
    const { shell } = child;
    if (shell.exitCode !== null || shell.signalCode !== null) return;
    const gone = new Promise((resolve) => shell.once("exit", resolve));
    shell.stdin?.end();
    await gone;
  }

  /** At the end of this process, when nothing can be waited for: their files can be removed after it. */
  killAll(): void {
    for (const { pid } of this.#running.values()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended before.
      }
    }
  }

  /** What the children, and whoever else keeps a log there, said last: for an error. */
  lastWords(): string {
    return readdirSync(this.#dir)
      .filter((name) => name.endsWith(".log"))
      .map((name) => {
        const lines = readFileSync(join(this.#dir, name), "utf8").trimEnd().split("\n").slice(-LOG_TAIL);
        return `── ${name}\n${lines.join("\n")}`;
      })
      .join("\n");
  }
}
