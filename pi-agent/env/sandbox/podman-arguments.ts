/**
 * The arguments of podman: a container without an image. Its root is an empty folder of the agent's, with the same parts of the system bound
 * into it that bubblewrap shows; so nothing is fetched, and a path and a program mean the same to every kind of sandbox.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ExecError } from "../environment.ts";
import {
  checkedDevice,
  checkedReadable,
  entering,
  NETWORK_FILES,
  refuseWorkspace,
  type SandboxProfile,
  type SandboxRun,
  SYSTEM_FILES,
  sandboxEnv,
} from "./sandbox-profile.ts";

/** A usual shell's; as root, podman would ask for more than many containers may give. */
const OPEN_FILES = 1_024;
/** podman makes its own of these, where there is a network. */
const BY_PODMAN = ["/etc/resolv.conf", "/etc/hosts"];
/** They would lead podman itself elsewhere. */
const OF_PODMAN = /^(CONTAINERS?_|STORAGE_|PODMAN|BUILDAH|REGISTRY|XDG_|DBUS_|HOME$|TMPDIR$|NOTIFY_SOCKET$)/;

/**
 * @param container its name and its root folder
 * @param names variables of podman's own environment that the program gets too
 * @throws ExecError `blocked` for a profile, grant or variable that would open more than it says
 */
export function podmanArguments(
  profile: SandboxProfile,
  run: SandboxRun,
  container: { name: string; root: string },
  names: readonly string[],
): string[] {
  const { workspace, limits } = profile;
  refuseWorkspace(workspace);
  for (const name of names)
    if (OF_PODMAN.test(name))
      throw new ExecError("blocked", `The environment variable '${name}' may not be set: podman reads it.`);
  const isRoot = process.getuid?.() === 0;
  const network = run.grants?.network === true;
  const system = [...profile.system].flatMap(([path, link]) => (link === undefined ? [path] : []));
  const files = [...SYSTEM_FILES, ...(network ? NETWORK_FILES : [])].filter(
    (path) => !BY_PODMAN.includes(path),
  );
  const readable = profile.readable.map((path) => checkedReadable(path, workspace));
  const shown = ["/usr", ...system, ...files, ...readable].filter((path) => existsSync(path));
  const readOnly = withMountsBelow(shown, workspace);
  const devices = (run.grants?.devices ?? []).map(checkedDevice);
  return [
    "run",
    `--name=${container.name}`,
    "--rm",
    "--interactive",
    "--preserve-fds=1",
    "--log-driver=none",
    "--read-only",
    "--read-only-tmpfs=false",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    "--security-opt=label=disable",
    "--security-opt=mask=/sys",
    "--pid=private",
    "--ipc=private",
    "--uts=private",
    "--hostname=sandbox",
    "--http-proxy=false",
    ...(network ? ["--network=host"] : ["--network=none", "--no-hosts"]),
    // For root, whom nproc does not hold; for others not every system has it.
    `--pids-limit=${isRoot ? limits.processes : -1}`,
    `--ulimit=nproc=${limits.processes}:${limits.processes}`,
    `--ulimit=nofile=${OPEN_FILES}:${OPEN_FILES}`,
    "--ulimit=core=0:0",
    `--shm-size=${limits.temporaryBytes}`,
    `--tmpfs=/tmp:rw,nosuid,nodev,mode=1777,size=${limits.temporaryBytes}`,
    ...[...readOnly].map(([path, source]) => `--mount=type=bind,src=${plain(source)},dst=${plain(path)},ro`),
    `--mount=type=bind,src=${plain(workspace)},dst=${plain(workspace)}`,
    ...devices.map((device) => `--device=${device}`),
    // The groups of the agent's user own the pins and the cameras.
    ...(devices.length > 0 && !isRoot ? ["--group-add=keep-groups"] : []),
    ...Object.entries(sandboxEnv(workspace)).flatMap(([name, value]) =>
      names.includes(name) ? [] : [`--env=${name}=${value}`],
    ),
    // Without their values, which other users of this machine could read in the list of processes.
    ...names.map((name) => `--env=${name}`),
    "--workdir=/",
    "--rootfs",
    container.root,
    ...entering(profile, run, { before: "unset container HOSTNAME\n", isChild: true }),
  ];
}

/**
 * podman's `ro` holds for one mount, and those below it come along as they are: each of them needs a mount of its own.
 *
 * @returns what is at each path
 */
function withMountsBelow(shown: readonly string[], workspace: string): Map<string, string> {
  const all = new Map(shown.map((path) => [path, realpathSync(path)]));
  const mounts = mountPoints();
  for (const [path, source] of [...all])
    for (const mount of mounts) {
      if (!mount.startsWith(`${source}/`)) continue;
      const place = join(path, mount.slice(source.length));
      const isWorkspaces = `${place}/`.startsWith(`${workspace}/`);
      // One that another mount covers has a name and cannot be reached.
      if (!all.has(place) && !isWorkspaces && existsSync(mount)) all.set(place, mount);
    }
  return all;
}

function mountPoints(): string[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").trimEnd().split("\n");
  return lines.map((line) =>
    (line.split(" ")[4] ?? "").replace(/\\([0-7]{3})/g, (_, octal) =>
      String.fromCharCode(parseInt(octal, 8)),
    ),
  );
}

/** The folder that containers have as their root, where it is not there yet. */
export function podmanRoot(folder: string, { system }: SandboxProfile): string {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  for (const [path, link] of system) {
    const place = join(folder, path);
    if (link !== undefined && !lstatSync(place, { throwIfNoEntry: false })) symlinkSync(link, place);
  }
  return folder;
}

/** A comma ends a word of `--mount`. */
function plain(path: string): string {
  if (!/[,"\n]/.test(path)) return path;
  throw new ExecError(
    "blocked",
    `podman cannot take the path '${path}': it has a comma, a quote or a line break.`,
  );
}
