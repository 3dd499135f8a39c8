/** The sandbox of podman: a container for each run, and an end of those that a killed agent left. */
import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SYSTEM_PATH } from "../clean-env.ts";
import { MARK_VARIABLE, startOf } from "../process-tree.ts";
import { runProcess } from "../run-process.ts";
import { podmanArguments, podmanRoot } from "./podman-arguments.ts";
import type { SandboxProfile, SandboxRun } from "./sandbox-profile.ts";
import type { Given, Start } from "./start.ts";

/** Prefix of container names; the agent's process and the container's own part follow. */
const CONTAINER = "edgecall";
const REMOVE_MS = 30_000;

export function startPodman(
  profile: SandboxProfile,
  run: SandboxRun,
  { program, env, stateDir = tmpdir() }: Given,
): Start {
  const name = `${CONTAINER}-${ownerOf(process.pid)}-${randomUUID()}`;
  const root = podmanRoot(join(stateDir, "podman-root"), profile);
  return {
    args: podmanArguments(profile, run, { name, root }, [...Object.keys(env), MARK_VARIABLE]),
    env: { ...podmanEnv(), ...env },
    // A container is not our child process, so it would continue without podman.
    clear: async () => await remove(program, [name]),
  };
}

/** Variables with which podman finds its store and its runtime folder. */
function podmanEnv(): Record<string, string> {
  const names = ["HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
  return {
    PATH: SYSTEM_PATH,
    LANG: "C.UTF-8",
    ...Object.fromEntries(
      names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    ),
  };
}

/** Removes containers of ended agents. One from another PID namespace since boot may still run, so it stays. */
export async function removeForgotten(program = "podman"): Promise<void> {
  const names = await podman(program, [
    "ps",
    "--all",
    `--filter=name=^${CONTAINER}-[0-9a-f]+-[0-9]+-[0-9]+-[0-9]+-`,
    "--format={{.Names}}",
  ]).catch(() => "");
  const forgotten = names.split("\n").filter((name) => {
    const [, boot, space, pid, startedAt] = name.split("-");
    if (pid === undefined) return false;
    const [ownBoot, ownSpace, , now] = ownerOf(Number(pid)).split("-");
    return boot !== ownBoot || (space === ownSpace && startedAt !== now);
  });
  if (forgotten.length > 0) await remove(program, forgotten);
}

/**
 * Returns a unique name of a process, since ids repeat, in a container even at each start.
 * @returns boot, PID namespace, id and start; the start is 0 when there is no such process
 */
export function ownerOf(pid: number): string {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
  const space = readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
  return [boot, space, pid, startOf(pid) ?? 0].join("-");
}

async function remove(program: string, names: readonly string[]): Promise<void> {
  await podman(program, ["rm", "--force", "--ignore", "--time=0", ...names]).catch(() => "");
}

async function podman(program: string, args: readonly string[]): Promise<string> {
  let output = "";
  await runProcess([program, ...args], {
    cwd: "/",
    env: podmanEnv(),
    signal: AbortSignal.timeout(REMOVE_MS),
    onOutput: (chunk, stream) => {
      if (stream === "stdout") output += Buffer.from(chunk).toString();
    },
  });
  return output;
}
