/**
 * The kinds of sandbox, each with its real program, started so that it also works for a test that runs as root of a
 * container.
 */
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SandboxOptions } from "../env/sandbox/sandbox.ts";
import { KINDS, SANDBOX_KINDS, type SandboxKind } from "../env/sandbox/sandbox-kinds.ts";
import { shellQuote } from "../env/shell-quote.ts";

const IS_ROOT = process.getuid?.() === 0;
/** No other user of the machine has it. */
const USER = 61_000;

export const NEEDED: Readonly<Record<SandboxKind, string[]>> = {
  bubblewrap: ["needs/bubblewrap"],
  firejail: ["needs/firejail", ...(IS_ROOT ? ["needs/mounts"] : [])],
  podman: ["needs/podman", "needs/root", "needs/mounts"],
};

/** No sandbox may reveal this. The devices of the user that firejail runs as contain it too. */
export const SECRET = "walk-secret-5f1c";

/** For a test's folder, because podman cleans its store after the container's end. */
export const REMOVED = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };

/**
 * @param folder for what the kind needs, beside the workspace
 * @param workspace there, and made writable for the user that the kind runs as
 */
export function ofKind(
  kind: SandboxKind,
  { folder, workspace }: { folder: string; workspace: string },
): SandboxOptions & { kind: SandboxKind } {
  const program = join(folder, `as-${kind}`);
  const options = { kind, workspace, stateDir: folder };
  switch (kind) {
    case "bubblewrap":
      return options;
    case "firejail":
      return IS_ROOT ? { ...options, program: firejailAsUser(program, folder, workspace) } : options;
    case "podman":
      return { ...options, program: podmanWithOwnStore(program, folder) };
  }
}

export const kinds = SANDBOX_KINDS.map((kind) => ({ kind, tags: NEEDED[kind] }));

/** The devices that `--private-dev` takes from a desktop. */
const DEVICES = [
  "snd/controlC0",
  "dri/card0",
  "input/event0",
  "usb/hiddev0",
  "dvb/adapter0",
  "video0",
  "hidraw0",
  "log",
];

/**
 * firejail refuses to run as root. It needs a user that the system knows; this makes one for this one process, with a
 * login session and the right to use the machine's devices.
 */
function firejailAsUser(program: string, folder: string, workspace: string): string {
  const users = join(folder, "passwd");
  writeFileSync(
    users,
    `${readFileSync("/etc/passwd", "utf8")}walker:x:${USER}:${USER}::/nonexistent:/bin/sh\n`,
  );
  chownSync(workspace, USER, USER);
  chmodSync(folder, 0o755);
  const asUser = `setpriv --reuid ${USER} --regid ${USER} --clear-groups`;
  const devices = join(folder, "dev");
  for (const name of DEVICES) {
    mkdirSync(dirname(join(devices, name)), { recursive: true });
    writeFileSync(join(devices, name), SECRET, { mode: 0o666 });
  }
  for (const name of ["pts", "shm"]) mkdirSync(join(devices, name), { recursive: true });
  return script(
    program,
    `set -e
mount --bind '${users}' /etc/passwd
mkdir -p /run/user
mount -t tmpfs -o mode=755 edgecall /run/user
install -d -o ${USER} -g ${USER} -m 700 /run/user/${USER}
echo ${SECRET} | install -o ${USER} -m 600 /dev/stdin /run/user/${USER}/bus
mount -t tmpfs -o mode=755 edgecall /media
cp -a '${devices}/.' /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx /media
mount --move /media /dev
exec ${asUser} ${KINDS.firejail.program} "$@"`,
  );
}

/** On a system with both versions of control groups, crun requires that it cannot see the second. */
function podmanWithOwnStore(program: string, folder: string): string {
  const places = `--root '${folder}/store' --runroot '${folder}/run' --cgroup-manager=cgroupfs`;
  return script(
    program,
    `umount /sys/fs/cgroup/unified 2>/dev/null; exec ${KINDS.podman.program} ${places} "$@"`,
  );
}

function script(program: string, inOwnMounts: string): string {
  writeFileSync(program, `#!/bin/sh\nexec unshare --mount sh -c ${shellQuote([inOwnMounts])} sh "$@"\n`, {
    mode: 0o755,
  });
  return program;
}
