/** Starts programs of the system: systemctl, useradd and the like. */
import { spawn } from "node:child_process";

export type Said = { code: number; out: string; err: string };

/** No program that is started here takes longer, but for those with a time of their own. */
const WITHIN_MS = 60_000;

/** Never through a shell. A program that is not there answers with code 127, as a shell has it. */
export function run(
  program: string,
  args: readonly string[],
  { within = WITHIN_MS, env }: { within?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<Said> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: within,
      killSignal: "SIGKILL",
      ...(env && { env }),
    });
    const said: Said = { code: 127, out: "", err: "" };
    child.stdout.on("data", (chunk: Buffer) => {
      said.out += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      said.err += chunk;
    });
    child.on("error", (error) => resolve({ ...said, err: error.message }));
    child.on("close", (code) => resolve({ ...said, code: code ?? 1 }));
  });
}

/**
 * … and takes nothing but success.
 * @returns what it wrote
 * @throws with what it said
 */
export async function must(program: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await run(program, args);
  if (code === 0) return out.trim();
  throw new Error(`${[program, ...args].join(" ")}: ${err.trim() || out.trim() || `exit code ${code}`}`);
}
