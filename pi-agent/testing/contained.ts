/** A command in bash in the sandbox, observed from outside. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { modelTextOf } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { sandbox } from "../env/sandbox/sandbox.ts";
import { bash } from "../tools/programs/bash.ts";

/** `mostProcesses`: the most at one time that carry the folder's call. */
export type Contained = { text: string; code: string | undefined; mostProcesses: number };

/** `keys`: typed into it, in a terminal. */
export type Tried = { command: string; keys?: string[]; timeoutMs: number };

export async function contained(folder: string, { command, keys, timeoutMs }: Tried): Promise<Contained> {
  const own = ownNamespace();
  let mostProcesses = 0;
  const watch = setInterval(() => {
    mostProcesses = Math.max(mostProcesses, inOtherNamespaces(own));
  }, 100);
  try {
    const registry = new ToolRegistry([bash(sandbox({ workspace: folder }))]);
    const { result } = await runTool(
      registry,
      {
        callId: "contained",
        name: "bash",
        args: { command, timeout_ms: timeoutMs, ...(keys && { keys }) },
        caller: { principal: "test", role: "admin", channel: "test" },
      },
      { graceMs: 5_000 },
    );
    return { text: modelTextOf(result), code: result.fault?.code, mostProcesses };
  } finally {
    clearInterval(watch);
  }
}

/** Runs as `nobody` in its own program, because a process cannot return to its former user id. Needs root. */
export async function containedAsNobody(folder: string, tried: Tried): Promise<Contained> {
  const nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
  const program = fileURLToPath(new URL("./contained-main.ts", import.meta.url));
  const args = [...nobody, process.execPath, "--disable-warning=ExperimentalWarning", program];
  const { stdout } = await promisify(execFile)("setpriv", [...args, folder, JSON.stringify(tried)], {
    env: { ...process.env, HOME: "/nonexistent" },
  });
  return JSON.parse(stdout);
}

function ownNamespace(): number {
  return inOtherNamespaces(0);
}

/** Returns the number of processes in a PID namespace below this one, without those that were there before. */
function inOtherNamespaces(before: number): number {
  const nested = readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && /^NSpid:\t\d+\t\d/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
    } catch {
      return false;
    }
  });
  return Math.max(0, nested.length - before);
}
