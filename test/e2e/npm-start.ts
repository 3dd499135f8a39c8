/** `npm start` as a person types it, and all of its processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { until } from "../wait.ts";
import { GatewayClient } from "./gateway-client.ts";
import { plainEnvironment, ROOT } from "./program.ts";

export type Started = {
  child: ChildProcess;
  out(): string;
  err(): string;
  /** Its exit code, when it has ended and all its output has arrived. */
  code: Promise<number | null>;
};

/** Starts it with this state folder, which identifies its processes. */
export function npmStart(folder: string, args: string[] = [], env: Record<string, string> = {}): Started {
  const child = spawn("npm", ["start", "--silent", ...(args.length > 0 ? ["--", ...args] : [])], {
    cwd: ROOT,
    env: { ...plainEnvironment(), EDGECALL_DIR: folder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // Its own process group, because a terminal's Ctrl-C reaches the whole group.
    detached: true,
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (err += chunk));
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, out: () => out, err: () => err, code };
}

/** Waits until it prints its address. @returns a client with the printed token */
export async function running(started: Started): Promise<GatewayClient> {
  const printed = () =>
    /gateway\s+(http:\S+)\s+token\s+(\S+)/.exec(started.out()) ?? (started.child.exitCode !== null && []);
  const [, url, token] = await until(printed, { within: 45_000, what: "npm start prints its address" });
  if (!url || !token) throw new Error(`npm start ended: ${started.err()}`);
  return new GatewayClient(url, token);
}

/** Sends SIGINT to the group, as a terminal does for Ctrl-C. */
export function interrupt({ child }: Started): void {
  if (child.pid !== undefined) process.kill(-child.pid, "SIGINT");
}

/** Returns the pid of the stack's main process, from the file that locks the folder. */
export function stackPid(folder: string): number {
  return (JSON.parse(readFileSync(join(folder, "running.json"), "utf8")) as { pid: number }).pid;
}

/** Returns all its processes: each has the folder in its environment. Linux only. */
export function processesOf(folder: string): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`EDGECALL_DIR=${folder}\0`);
      } catch {
        // It has ended, or is a zombie, which runs nothing.
        return false;
      }
    });
}

/** Kills all of them and waits until they have ended. Some end by themselves because their parent was killed first. */
export async function killAll(folder: string): Promise<void> {
  for (const pid of processesOf(folder)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
  await until(() => processesOf(folder).length === 0);
}

/** Gives each test a new state folder, and kills what a failed test left running in it. */
export function useStateFolder(): { readonly path: string } {
  const folder = { path: "" };
  beforeEach(() => {
    folder.path = mkdtempSync(join(tmpdir(), "edgecall-start-"));
  });
  afterEach(async () => {
    await killAll(folder.path);
    rmSync(folder.path, { recursive: true, force: true });
  });
  return folder;
}
