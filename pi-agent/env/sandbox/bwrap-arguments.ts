/**
 * The arguments of bubblewrap, as a pure function that is easy to read and test.
 *
 * The sandbox has no network, devices, other processes or host files except programs, and only the workspace is writable. Its
 * environment is that of the bwrap process, which must be clean: `/proc/1/environ` in the sandbox shows it.
 */
import {
  checkedDevice,
  checkedReadable,
  entering,
  NETWORK_FILES,
  refuseWorkspace,
  type SandboxProfile,
  type SandboxRun,
  SYSTEM_FILES,
} from "./sandbox-profile.ts";

/** @throws ExecError `blocked` for a profile or grant that would allow more than it states */
export function bwrapArguments(profile: SandboxProfile, run: SandboxRun): string[] {
  const { workspace, limits } = profile;
  refuseWorkspace(workspace);
  const network = run.grants?.network === true;
  const size = String(limits.temporaryBytes);
  return [
    "--unshare-user",
    // Further namespaces would restore inside the capabilities that are dropped here.
    "--disable-userns",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(network ? [] : ["--unshare-net"]),
    "--die-with-parent",
    "--new-session",
    ...["--cap-drop", "ALL"],
    ...["--ro-bind", "/usr", "/usr"],
    ...[...profile.system].flatMap(([path, link]) =>
      link === undefined ? ["--ro-bind", path, path] : ["--symlink", link, path],
    ),
    ...readOnly([...SYSTEM_FILES, ...(network ? NETWORK_FILES : [])]),
    ...["--dev", "/dev"],
    ...(run.grants?.devices ?? []).flatMap((device) => ["--dev-bind", checkedDevice(device), device]),
    ...["--size", size, "--tmpfs", "/dev/shm"],
    ...["--size", size, "--tmpfs", "/tmp"],
    ...["--proc", "/proc"],
    ...readOnly(profile.readable.map((path) => checkedReadable(path, workspace))),
    // Last, so that no mount's destination is in a folder that the agent can write (CVE-2026-87766).
    ...["--bind", workspace, workspace],
    // Root without capabilities may still write files that root owns. /proc/sys/kernel/core_pattern names a program
    // that the kernel starts outside of any sandbox.
    ...["--remount-ro", "/proc"],
    ...["--remount-ro", "/"],
    ...["--chdir", "/"],
    "--",
    ...entering(profile, run),
  ];
}

function readOnly(paths: readonly string[]): string[] {
  return paths.flatMap((path) => ["--ro-bind-try", path, path]);
}
