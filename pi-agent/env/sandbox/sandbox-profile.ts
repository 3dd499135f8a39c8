/** The rules of every kind of sandbox: what is shown, allowed and refused, and the script that runs first inside. */
import { posix } from "node:path";
import { ExecError, type RunOptions } from "../environment.ts";

export type SandboxLimits = {
  /** Most processes at once in a call. The kernel exempts root (see process-group-limit.ts). */
  processes: number;
  /** The largest file that can be written, in bytes. */
  fileBytes: number;
  /** Most writable memory of a process, in bytes. Address space is not limited, since some programs reserve a lot. */
  dataBytes: number;
  /** Size in bytes of /tmp and of /dev/shm, which are in memory. */
  temporaryBytes: number;
};

export const SANDBOX_LIMITS: SandboxLimits = {
  processes: 256,
  fileBytes: 1024 ** 3,
  dataBytes: 2 * 1024 ** 3,
  temporaryBytes: 64 * 1024 ** 2,
};

export type SandboxProfile = {
  /** Has the same path on the host and in the sandbox, so that a path means the same to every tool. */
  workspace: string;
  /** Bound read-only if they exist. None may be in the workspace. */
  readable: readonly string[];
  /** `/bin`, `/lib` and the like, each with its link target, or undefined for a real folder. */
  system: ReadonlyMap<string, string | undefined>;
  limits: SandboxLimits;
  /** True if `prlimit` is installed to set limits. */
  prlimit: boolean;
};

/** A run in a sandbox, and the access that it gets. */
export type SandboxRun = {
  argv: readonly string[];
  /** Absolute; checked in the sandbox. */
  cwd: string;
  grants?: RunOptions["grants"];
};

/** Files outside /usr that programs of a Debian system need, and that reveal nothing about this home. */
export const SYSTEM_FILES = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types"];
/** Host names and certificates; only with the network. */
export const NETWORK_FILES = [
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/gai.conf",
  "/etc/services",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
];
/** Folders that the profile mounts itself, or that nobody would use as a workspace. */
const NO_WORKSPACE = ["/", "/usr", "/bin", "/sbin", "/lib", "/etc", "/proc", "/sys", "/dev", "/tmp", "/boot"];

/** The report of the entering script on descriptor 3 before the program starts; `open PATH` only for checked kinds. */
export type Entered = "ready" | "no-cwd" | "outside" | "no-program" | `open ${string}`;

/** Variables of the sandbox program's own environment; HOME is the writable folder. */
export function sandboxEnv(workspace: string): Record<string, string> {
  const { TZ } = process.env;
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
    HOME: workspace,
    LANG: "C.UTF-8",
    TERM: "dumb",
    ...(TZ !== undefined && { TZ }),
  };
}

/**
 * Returns the script that runs first in every sandbox. It changes to the working directory, with links as the sandbox sees
 * them, and reports on descriptor 3 how far it came, so that the program's exit code cannot be mistaken for ours.
 * @param before shell lines that run first
 * @param isChild for a kind without a process above the program: the first process of a PID namespace cannot be killed from
 *   within
 */
export function entering(
  { workspace, limits, prlimit }: SandboxProfile,
  { argv, cwd }: SandboxRun,
  { before = "", isChild = false } = {},
): string[] {
  const limited = prlimit
    ? `prlimit --core=0 --nproc=${limits.processes} --fsize=${limits.fileBytes} --data=${limits.dataBytes} -- `
    : "";
  // The shell would write "Killed" into the program's output.
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
