/** The kinds of sandbox: how each is started, and what it cannot guarantee. docs/tools/execution.md compares them. */
import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { SYSTEM_PATH } from "../clean-env.ts";
import { MARK_VARIABLE, startOf } from "../process-tree.ts";
import { runProcess } from "../run-process.ts";
import { bwrapArguments } from "./bwrap-arguments.ts";
import { FILTER_FD, withFilter } from "./call-filter.ts";
import { firejailArguments, machine } from "./firejail-arguments.ts";
import { podmanArguments, podmanRoot } from "./podman-arguments.ts";
import { type SandboxProfile, type SandboxRun, sandboxEnv } from "./sandbox-profile.ts";

export const SANDBOX_KINDS = ["bubblewrap", "firejail", "podman"] as const;
export type SandboxKind = (typeof SANDBOX_KINDS)[number];

export type Start = {
  /** Starts the kind's program with a descriptor that it needs. */
  prefix?: readonly string[];
  args: string[];
  /** The text that it reads from descriptor 4. */
  script?: string;
  /** The complete environment of the kind's program. */
  env: Record<string, string>;
  /** Called after a run that was stopped. Never rejects. */
  clear?(): Promise<void>;
};

type Given = {
  program: string;
  /** Variables that the call adds. */
  env: Readonly<Record<string, string>>;
  stateDir: string | undefined;
};

type Kind = {
  program: string;
  howToGetIt: string;
  /** The guarantees of bubblewrap that it lacks; undefined for bubblewrap. */
  gaps?: string;
  /** Runs before the first use, and removes what a killed agent left. */
  begin?(program?: string): Promise<void>;
  start(profile: SandboxProfile, run: SandboxRun, given: Given): Start;
};

export const KINDS: Readonly<Record<SandboxKind, Kind>> = {
  bubblewrap: {
    program: "bwrap",
    // Version 0.8.0 (Debian 12) and later have `--disable-userns`.
    howToGetIt:
      "install bubblewrap 0.8.0 or newer (apt install bubblewrap), and let ordinary users have user namespaces",
    start(profile, run, { env }) {
      const prefix = withFilter();
      const filter = prefix.length > 0 ? ["--seccomp", String(FILTER_FD)] : [];
      return {
        prefix,
        args: [...filter, ...bwrapArguments(profile, run)],
        env: { ...sandboxEnv(profile.workspace), ...env },
      };
    },
  },
  firejail: {
    program: "firejail",
    howToGetIt:
      "install firejail 0.9.72 or newer (apt install firejail), and run the agent outside of containers, as an ordinary user who has a shell and may start setuid programs",
    gaps: "firejail is a setuid program, so a fault in it gives root; /tmp has no bound of its own; what runs while the agent is killed goes on; no device can be granted; no more than some two dozen readable paths can be shown",
    start: (profile, run, { env }) => ({
      ...firejailArguments(profile, run, machine(userInfo().homedir)),
      env: { ...sandboxEnv(profile.workspace), ...env },
    }),
  },
  podman: {
    program: "podman",
    howToGetIt:
      "install podman 4.3 or newer (apt install podman), and see that 'podman run' starts a container as the agent's user",
    gaps: "podman takes a second or so to start; what runs while the agent is killed goes on until the agent starts again",
    begin: removeForgotten,
    start(profile, run, { program, env, stateDir = tmpdir() }) {
      const name = `${CONTAINER}-${ownerOf(process.pid)}-${randomUUID()}`;
      const root = podmanRoot(join(stateDir, "podman-root"), profile);
      return {
        args: podmanArguments(profile, run, { name, root }, [...Object.keys(env), MARK_VARIABLE]),
        env: { ...podmanEnv(), ...env },
        // A container is not our child process, so it would continue without podman.
        clear: async () => await remove(program, [name]),
      };
    },
  },
};

/** Prefix of container names; the agent's process and the container's own part follow. */
const CONTAINER = "edgecall";
const REMOVE_MS = 30_000;

/** Variables with which podman finds its store and its runtime folder. */
function podmanEnv(own: Readonly<Record<string, string | undefined>> = process.env): Record<string, string> {
  const names = ["HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
  return {
    PATH: SYSTEM_PATH,
    LANG: "C.UTF-8",
    ...Object.fromEntries(names.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]))),
  };
}

/** Removes containers of ended agents. One from another PID namespace since boot may still run, so it stays. */
async function removeForgotten(program = "podman"): Promise<void> {
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
 *
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
