/**
 * The arguments of podman for a container without an image. Its root is an empty folder of the agent, into which the same parts
 * of the system are bound that bubblewrap shows. So nothing is downloaded, and paths and programs are the same in every
 * kind of sandbox.
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

/** The usual limit of a shell. As root, podman would ask for more than many containers allow. */
const OPEN_FILES = 1_024;
/** With a network, podman makes its own versions of these. */
const BY_PODMAN = ["/etc/resolv.conf", "/etc/hosts"];
/** Variables that would redirect podman itself. */
const OF_PODMAN = /^(CONTAINERS?_|STORAGE_|PODMAN|BUILDAH|REGISTRY|XDG_|DBUS_|HOME$|TMPDIR$|NOTIFY_SOCKET$)/;

/**
 * @param container its name and its root folder
 * @param names variables of podman's own environment that the program also gets
 * @throws ExecError `blocked` for a profile, grant or variable that would allow more than it states
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
    // For root, which nproc does not limit. For others, not every system supports it.
    `--pids-limit=${isRoot ? limits.processes : -1}`,
    `--ulimit=nproc=${limits.processes}:${limits.processes}`,
    `--ulimit=nofile=${OPEN_FILES}:${OPEN_FILES}`,
    "--ulimit=core=0:0",
    `--shm-size=${limits.temporaryBytes}`,
    `--tmpfs=/tmp:rw,nosuid,nodev,mode=1777,size=${limits.temporaryBytes}`,
    ...[...readOnly].map(([path, source]) => `--mount=type=bind,src=${plain(source)},dst=${plain(path)},ro`),
    `--mount=type=bind,src=${plain(workspace)},dst=${plain(workspace)}`,
    ...devices.map((device) => `--device=${device}`),
    // Keeps the groups of the agent's user, which own the pins and cameras.
    ...(devices.length > 0 && !isRoot ? ["--group-add=keep-groups"] : []),
    ...Object.entries(sandboxEnv(workspace)).flatMap(([name, value]) =>
      names.includes(name) ? [] : [`--env=${name}=${value}`],
    ),
    // Names only, because other users of this machine could read the values in the process list.
    ...names.map((name) => `--env=${name}`),
    "--workdir=/",
    "--rootfs",
    container.root,
    ...entering(profile, run, { before: "unset container HOSTNAME\n", isChild: true }),
  ];
}

/**
 * Lists the mounts below the shown paths. podman's `ro` applies to one mount only, so each mount below needs its own.
 * @returns the source for each path
 */
function withMountsBelow(shown: readonly string[], workspace: string): Map<string, string> {
  const all = new Map(shown.map((path) => [path, realpathSync(path)]));
  const mounts = mountPoints();
  for (const [path, source] of [...all])
    for (const mount of mounts) {
      if (!mount.startsWith(`${source}/`)) continue;
      const place = join(path, mount.slice(source.length));
      const isWorkspaces = `${place}/`.startsWith(`${workspace}/`);
      // A mount that another one covers is listed but cannot be reached.
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

/** Makes the folder that containers use as their root, if it is missing. */
export function podmanRoot(folder: string, { system }: SandboxProfile): string {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  for (const [path, link] of system) {
    const place = join(folder, path);
    if (link !== undefined && !lstatSync(place, { throwIfNoEntry: false })) symlinkSync(link, place);
  }
  return folder;
}

/** Refuses a comma, which separates the fields of `--mount`. */
function plain(path: string): string {
  if (!/[,"\n]/.test(path)) return path;
  throw new ExecError(
    "blocked",
    `podman cannot take the path '${path}': it has a comma, a quote or a line break.`,
  );
}
