/** What every kind of sandbox keeps: what is shown and opened, what is refused, and the script that runs first inside. */
import { posix } from "node:path";
import { ExecError, type RunOptions } from "../environment.ts";

export type SandboxLimits = {
  /** At once, in one call. The kernel exempts root from it: see process-group-limit.ts. */
  processes: number;
  /** The largest file that can be written, in bytes. */
  fileBytes: number;
  /** Memory a process may write to, in bytes; not address space, of which some programs reserve a lot. */
  dataBytes: number;
  /** Each of /tmp and /dev/shm, which are memory, in bytes. */
  temporaryBytes: number;
};

export const SANDBOX_LIMITS: SandboxLimits = {
  processes: 256,
  fileBytes: 1024 ** 3,
  dataBytes: 2 * 1024 ** 3,
  temporaryBytes: 64 * 1024 ** 2,
};

export type SandboxProfile = {
  /** On the host and, under the same name, in the sandbox: a path means the same to every tool. */
  workspace: string;
  /** Bound read-only where they are there. None may lie in the workspace. */
  readable: readonly string[];
  /** `/bin`, `/lib` and the like: what each one links to, or undefined for a folder of its own. */
  system: ReadonlyMap<string, string | undefined>;
  limits: SandboxLimits;
  /** Whether `prlimit` is there to set limits with. */
  prlimit: boolean;
};

/** What runs in a sandbox, and what is opened to it. */
export type SandboxRun = {
  argv: readonly string[];
  /** Absolute; judged in the sandbox. */
  cwd: string;
  grants?: RunOptions["grants"];
};

/** What programs of a Debian system look up outside /usr, and tells nothing of this house. */
export const SYSTEM_FILES = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types"];
/** Names of hosts and the certificates to check them by: only with the network. */
export const NETWORK_FILES = [
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/gai.conf",
  "/etc/services",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
];
/** Mounted on by the profile itself, or nothing that a person would have as a workspace. */
const NO_WORKSPACE = ["/", "/usr", "/bin", "/sbin", "/lib", "/etc", "/proc", "/sys", "/dev", "/tmp", "/boot"];

/** What the entering script tells on descriptor 3 before the program starts; `open PATH` is for kinds that are checked. */
export type Entered = "ready" | "no-cwd" | "outside" | "no-program" | `open ${string}`;

/** Words of bwrap's own environment; HOME is what can be written. */
export function sandboxEnv(
  workspace: string,
  own: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
    HOME: workspace,
    LANG: "C.UTF-8",
    TERM: "dumb",
    ...(own.TZ !== undefined && { TZ: own.TZ }),
  };
}

/**
 * What runs first in a sandbox of any kind. It goes to the working directory, where links count as the sandbox sees them,
 * and says on descriptor 3 how far it came: a program's own exit code cannot be mistaken for ours.
 *
 * @param before lines of shell
 * @param isChild for a kind that has no process of its own above the program: the first of a PID namespace cannot be killed from within
 */
export function entering(
  { workspace, limits, prlimit }: SandboxProfile,
  { argv, cwd }: SandboxRun,
  { before = "", isChild = false } = {},
): string[] {
  const limited = prlimit
    ? `prlimit --core=0 --nproc=${limits.processes} --fsize=${limits.fileBytes} --data=${limits.dataBytes} -- `
    : "";
  // The shell would write "Killed" between the program's own words.
  const asChild = `exec 4>&2 2>/dev/null
( exec ${limited}"$@" 2>&4 4>&- )
exit $?`;
  const script = `${before}cd -P -- "$1" 2>/dev/null || { echo no-cwd >&3; exit 1; }
case "$PWD/" in "$2"/*) ;; *) echo outside >&3; exit 1;; esac
shift 2
command -v -- "$1" >/dev/null 2>&1 || { echo no-program >&3; exit 1; }
echo ready >&3
exec 3>&-
${isChild ? asChild : `exec ${limited}"$@"`}`;
  return ["/bin/sh", "-c", script, "sh", cwd, workspace, ...argv];
}

export function refuseWorkspace(workspace: string): void {
  const plain =
    posix.isAbsolute(workspace) && posix.normalize(workspace) === workspace && !/.\/$/.test(workspace);
  if (plain && !NO_WORKSPACE.includes(workspace) && !/^\/(proc|sys|dev|usr)\//.test(workspace)) return;
  throw new ExecError(
    "blocked",
    `'${workspace}' cannot be the workspace of a sandbox; use a folder of its own.`,
  );
}

export function checkedReadable(path: string, workspace: string): string {
  if (!posix.isAbsolute(path) || posix.normalize(path) !== path)
    throw new ExecError("blocked", `'${path}' is no plain absolute path to be readable in the sandbox.`);
  if (`${path}/`.startsWith(`${workspace}/`))
    throw new ExecError(
      "blocked",
      `'${path}' lies in the workspace; what the agent writes cannot be mounted on.`,
    );
  return path;
}

export function checkedDevice(device: string): string {
  if (/^\/dev\/[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*$/.test(device) && !device.split("/").includes(".."))
    return device;
  throw new ExecError("blocked", `'${device}' is no device that can be granted; use a path like /dev/i2c-1.`);
}
