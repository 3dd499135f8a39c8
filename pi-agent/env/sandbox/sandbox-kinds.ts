/** The kinds of sandbox: how each is started, and what it cannot promise. docs/tools/execution.md has them side by side. */
import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { SYSTEM_PATH } from "../clean-env.ts";
import { MARK_VARIABLE, startOf } from "../process-tree.ts";
import { runProcess } from "../run-process.ts";
import { bwrapArguments } from "./bwrap-arguments.ts";
import { firejailArguments, machine } from "./firejail-arguments.ts";
import { podmanArguments, podmanRoot } from "./podman-arguments.ts";
import { type SandboxProfile, type SandboxRun, sandboxEnv } from "./sandbox-profile.ts";

export const SANDBOX_KINDS = ["bubblewrap", "firejail", "podman"] as const;
export type SandboxKind = (typeof SANDBOX_KINDS)[number];

export type Start = {
  args: string[];
  /** What it reads from descriptor 4. */
  script?: string;
  /** All that the kind's program gets. */
  env: Record<string, string>;
  /** Called after a run that did not come to its own end. Never rejects. */
  clear?(): Promise<void>;
};

type Given = {
  program: string;
  /** What the call adds to the environment. */
  env: Readonly<Record<string, string>>;
  stateDir: string | undefined;
};

type Kind = {
  program: string;
  howToGetIt: string;
  /** What it promises less than bubblewrap; undefined for bubblewrap. */
  gaps?: string;
  /** Before the first run: removes what an agent that was killed left. */
  begin?(program?: string): Promise<void>;
  start(profile: SandboxProfile, run: SandboxRun, given: Given): Start;
};

export const KINDS: Readonly<Record<SandboxKind, Kind>> = {
  bubblewrap: {
    program: "bwrap",
    // `--disable-userns` is in 0.8.0, of Debian 12, and later.
    howToGetIt:
      "install bubblewrap 0.8.0 or newer (apt install bubblewrap), and let ordinary users have user namespaces",
    start: (profile, run, { env }) => ({
      args: bwrapArguments(profile, run),
      env: { ...sandboxEnv(profile.workspace), ...env },
    }),
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
        // A container is no child of ours: it would go on without podman.
        clear: async () => await remove(program, [name]),
      };
    },
  },
};

/** Before the agent's process and what is the container's own. */
const CONTAINER = "edgecall";
const REMOVE_MS = 30_000;

/** podman finds its store and its runtime folder by them. */
function podmanEnv(own: Readonly<Record<string, string | undefined>> = process.env): Record<string, string> {
  const names = ["HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
  return {
    PATH: SYSTEM_PATH,
    LANG: "C.UTF-8",
    ...Object.fromEntries(names.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]))),
  };
}

/** Containers of agents that are no more. What began in another PID namespace since the machine's start may still run, and stays. */
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
 * A process as no other is called: an id comes again, in a container at each start.
 *
 * @returns boot, PID namespace, id and start, the last one 0 when there is no such process
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
