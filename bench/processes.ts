/** Child processes of the bench, which all end with it, however it ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/**
 * A shell that starts the program, prints its pid, and kills it when the shell's input ends: the kernel closes that
 * pipe however the bench dies. So Mosquitto and a plain Node end with it too. The program's output goes to its log (the
 * shell's stderr), so that it does not mix with the pid.
 */
const LEASH = '"$@" >&2 & echo $!; read -r _; kill -9 $! 2>/dev/null';
/** The number of log lines that are shown when a program does not start. */
const LOG_TAIL = 15;

export type Leashed = { pid: number; name: string };

export class Processes {
  readonly #dir: string;
  readonly #running = new Map<string, { shell: ChildProcess; pid: number }>();

  /** @param dir the folder for the children's logs */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Starts a program whose output goes to a log file. It runs, but need not be ready, when this returns. */
  async start(name: string, command: string[], env: Record<string, string> = {}): Promise<Leashed> {
    const file = openSync(join(this.#dir, `${name}.log`), "a");
    const shell = spawn("/bin/sh", ["-c", LEASH, "sh", ...command], {
      stdio: ["pipe", "pipe", file],
      env: { ...process.env, ...env },
      // Ctrl-C at the terminal ends only the bench, and the bench ends its children.
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

  /** @throws when no program of this name runs */
  pid(name: string): number {
    const running = this.#running.get(name);
    if (!running) throw new Error(`${name} does not run`);
    return running.pid;
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

  /** For the end of this process, when it cannot wait: the programs' files can be removed afterwards. */
  killAll(): void {
    for (const { pid } of this.#running.values()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It had already ended.
      }
    }
  }

  /** Returns the ends of all logs, for an error text. */
  lastText(): string {
    return readdirSync(this.#dir)
      .filter((name) => name.endsWith(".log"))
      .map((name) => {
        const lines = readFileSync(join(this.#dir, name), "utf8").trimEnd().split("\n").slice(-LOG_TAIL);
        return `── ${name}\n${lines.join("\n")}`;
      })
      .join("\n");
  }
}
