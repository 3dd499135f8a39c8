/** Runs programs of the system: systemctl, useradd and the like. */
import { spawn } from "node:child_process";

export type Finished = { code: number; out: string; err: string };

/** The default time limit of a program. */
const WITHIN_MS = 60_000;

/** Runs a program without a shell. A missing program gives code 127, the same as in a shell. */
export function run(
  program: string,
  args: readonly string[],
  { within = WITHIN_MS, env }: { within?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: within,
      killSignal: "SIGKILL",
      ...(env && { env }),
    });
    const result: Finished = { code: 127, out: "", err: "" };
    child.stdout.on("data", (chunk: Buffer) => {
      result.out += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      result.err += chunk;
    });
    child.on("error", (error) => resolve({ ...result, err: error.message }));
    child.on("close", (code) => resolve({ ...result, code: code ?? 1 }));
  });
}

/** Runs a program that must succeed. @returns its output @throws with its error output */
export async function must(program: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await run(program, args);
  if (code === 0) return out.trim();
  throw new Error(`${[program, ...args].join(" ")}: ${err.trim() || out.trim() || `exit code ${code}`}`);
}
