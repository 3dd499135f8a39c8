/** The plain way: Node starts a program and reads its output to the end. */
import { spawn } from "node:child_process";

/** Its output comes through a pipe, as ours does, and is dropped. @throws unless it exits with one of `codes` */
export async function plainly(
  program: string,
  args: readonly string[],
  { cwd = "/", codes = [0] }: { cwd?: string; codes?: readonly number[] } = {},
): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.resume();
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === null || !codes.includes(code)) throw new Error(`${program} ended with ${code}`);
}
