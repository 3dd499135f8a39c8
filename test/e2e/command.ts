/** `edgecall` as a real process: piped, or on its own terminal (script of util-linux). */
import { type ChildProcess, spawn } from "node:child_process";
import { until } from "../wait.ts";
import { plainEnvironment, ROOT } from "./program.ts";

export type CommandEnd = { code: number | null; out: string; err: string };

export class RunningCommand {
  out = "";
  err = "";
  readonly ended: Promise<CommandEnd>;
  readonly #child: ChildProcess;

  constructor(program: string, args: readonly string[], env: Record<string, string | undefined>) {
    this.#child = spawn(program, args, { cwd: ROOT, env: { ...plainEnvironment(), ...env } });
    this.#child.stdout?.on("data", (data: Buffer) => {
      this.out += data;
    });
    this.#child.stderr?.on("data", (data: Buffer) => {
      this.err += data;
    });
    this.ended = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("close", (code) => resolve({ code, out: this.out, err: this.err }));
    });
  }

  /** Waits until `out` contains this. */
  async writes(text: string | RegExp, within = 20_000): Promise<void> {
    const there = () => (typeof text === "string" ? this.out.includes(text) : text.test(this.out));
    await until(there, { within, what: `${String(text)} in ${JSON.stringify(this.out)}` });
  }

  /** Writes to its input: keys of the person, or piped text. */
  types(text: string): void {
    this.#child.stdin?.write(text);
  }

  closeInput(): void {
    this.#child.stdin?.end();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

/** Runs it until it ends, with only `input` on its stdin. */
export function edgecall(
  args: readonly string[],
  env: Record<string, string | undefined>,
  input = "",
): Promise<CommandEnd> {
  const command = startEdgecall(args, env);
  command.types(input);
  command.closeInput();
  return command.ended;
}

export function startEdgecall(args: readonly string[], env: Record<string, string | undefined>) {
  return new RunningCommand(process.execPath, [`${ROOT}/cli/main.ts`, ...args], env);
}

/** Runs it on a terminal of 80 columns: `out` is everything that it shows. */
export function edgecallOnTerminal(args: readonly string[], env: Record<string, string | undefined>) {
  const words = [process.execPath, `${ROOT}/cli/main.ts`, ...args].map((word) => `'${word}'`).join(" ");
  const line = `stty cols 80 rows 24; exec ${words}`;
  return new RunningCommand("script", ["-qefc", line, "/dev/null"], { TERM: "xterm", ...env });
}
