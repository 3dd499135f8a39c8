/**
 * The arguments of firejail. Unlike bubblewrap it begins with the whole machine and hides what the arguments name. Inside
 * another sandbox it runs the program without any. So at every call the entering script first checks that everything is
 * hidden, and otherwise starts nothing.
 */
import { existsSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { ExecError } from "../environment.ts";
import { shellQuote } from "../shell-quote.ts";
import {
  checkedReadable,
  entering,
  NETWORK_FILES,
  refuseWorkspace,
  type SandboxProfile,
  type SandboxRun,
  SYSTEM_FILES,
} from "./sandbox-profile.ts";

/** The machine's state, read shortly before the program runs. */
export type Machine = {
  /** The names in `/`. */
  top: readonly string[];
  /** This process's namespaces, which the program must not share. */
  namespaces: { pid: string; net: string };
  /** The home folder in the system's user list. */
  home: string;
};

export function machine(home: string): Machine {
  const [pid = "", net = ""] = ["pid", "net"].map((name) => readlinkSync(`/proc/self/ns/${name}`));
  return { top: readdirSync("/"), namespaces: { pid, net }, home };
}

/** Not hidden: firejail makes these read-only or replaces them. */
const WHOLE = ["/usr", "/proc", "/dev", "/run/firejail"];
/** Devices that `/dev` may contain. */
const PLAIN_DEVICES = "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero".split(" ");
/** Needed because `--private-dev` alone exposes the machine's sound, screens, cameras and security keys. */
const NO_DEVICES = ["sound", "3d", "video", "u2f", "input", "tv", "dvd", "printers"];
/** Emptied by a whitelist that names nothing in them. */
const EMPTY = ["/tmp", "/run"];
const SESSIONS = "/run/user";
/** Characters that firejail treats as patterns, lists or syntax. */
const SPECIAL = /[*?[\]{}()<>|&;!^%,"'\\\s$~]/;
/** Files that firejail copies from /etc/skel into the home folder. */
const OF_SKELETON = [".bashrc", ".inputrc", ".zshrc", ".cshrc"];
/** Files that firejail copies from the home folder, which give access to screen and sound. */
const OF_DESKTOP = [".Xauthority", ".asoundrc"];

/** Variables that firejail sets. */
const OF_FIREJAIL = [
  "container",
  "DBUS_SESSION_BUS_ADDRESS",
  "DBUS_SYSTEM_BUS_ADDRESS",
  "FIREJAIL_QUIET",
  "KDE_FORK_SLAVES",
  "PROMPT_COMMAND",
  "QML_DISABLE_DISK_CACHE",
  "QT_X11_NO_MITSHM",
  "SHELL",
];

/** firejail fails with more or longer arguments. */
const MAX_ARGUMENTS = 126;
const MAX_ARGUMENT_BYTES = 4_127;
/** The kernel's limit for one argument. */
const MAX_WORD_BYTES = 131_071;

/**
 * @returns the arguments, and the script that the shell reads from descriptor 4, because firejail's limits would refuse
 *   commands over 4 KiB
 * @throws ExecError `blocked` for a profile or grant that cannot be enforced, `spawn_failed` for invalid arguments
 */
export function firejailArguments(
  profile: SandboxProfile,
  run: SandboxRun,
  { top, namespaces, home }: Machine,
): { args: string[]; script: string } {
  const { workspace } = profile;
  refuseWorkspace(workspace);
  if (run.grants?.devices?.length)
    throw new ExecError("blocked", "firejail opens no single devices; bubblewrap and podman do.");
  const network = run.grants?.network === true;
  const whole = [...WHOLE, ...profile.system.keys()];
  // A link is shown as a link, so its target must be shown too.
  const withTargets = (paths: readonly string[]) => [
    ...new Set(
      paths
        .filter((path) => existsSync(path))
        .flatMap((path) => [path, realpathSync(path)])
        .filter((path) => !isIn(path, ["/sys", ...whole])),
    ),
  ];
  const readable = withTargets(profile.readable.map((path) => checkedReadable(path, workspace)));
  const files = withTargets([...SYSTEM_FILES, ...(network ? NETWORK_FILES : [])]);
  const shown = [workspace, ...readable, ...files].map(plain);
  const emptied = EMPTY.filter((folder) => !shown.some((path) => isIn(path, [folder])));
  const hidden = top
    .map((name) => `/${name}`)
    .filter((path) => !isIn(path, [...whole, ...EMPTY]) && !shown.some((one) => isIn(one, [path])));
  // When `/run` is emptied, firejail adds the user's own folder there again.
  const session = shown.some((path) => isIn(path, [SESSIONS])) ? [] : [SESSIONS];
  const args = [
    "--quiet",
    "--noprofile",
    "--keep-fd=3,4",
    "--noroot",
    "--nonewprivs",
    "--caps.drop=all",
    // Its own list, and what takes the disk at once (call-filter.ts).
    "--seccomp=fallocate,io_uring_setup",
    "--restrict-namespaces",
    "--nogroups",
    "--ipc-namespace",
    "--dbus-user=none",
    "--dbus-system=none",
    // It would be emptied before the whitelist reads from it.
    "--keep-var-tmp",
    "--private-dev",
    ...NO_DEVICES.map((name) => `--no${name}`),
    ...(network ? [] : ["--net=none"]),
    ...[...shown.filter(isBelowTop), ...emptied.map((path) => `${path}/edgecall-nothing`)].map(
      (path) => `--whitelist=${path}`,
    ),
    ...readable.map((path) => `--read-only=${path}`),
    ...hidden.map((path) => `--blacklist=${path}`),
    ...OF_DESKTOP.map((name) => `--blacklist=${home}/${name}`),
    ...[...session, "/dev/log"].map((path) => `--blacklist=${path}`),
    "--read-only=/proc",
    "--deterministic-exit-code",
    "--deterministic-shutdown",
    "--",
    "/bin/sh",
    "-c",
    'eval "$(cat <&4)"',
  ];
  if (args.length > MAX_ARGUMENTS || args.some((word) => Buffer.byteLength(word) > MAX_ARGUMENT_BYTES))
    throw new ExecError(
      "blocked",
      "firejail cannot show so many paths, or one so long: make fewer readable.",
    );
  const before = check({ shown, whole, home, namespaces, network });
  const [, , entry = "", , ...words] = entering(profile, run, { before, isChild: true });
  if (words.some((word) => word.includes("\0") || Buffer.byteLength(word) > MAX_WORD_BYTES))
    throw new ExecError(
      "spawn_failed",
      `'${run.argv[0]}' could not be started: its arguments are too long, or have a NUL.`,
    );
  return { args, script: `set -- ${shellQuote(words)}\n${entry}` };
}

/** The script's check that each folder on the way to a shown path contains nothing else that can be read. */
function check({
  shown,
  whole,
  home,
  namespaces,
  network,
}: {
  shown: readonly string[];
  whole: readonly string[];
  home: string;
  namespaces: Machine["namespaces"];
  network: boolean;
}): string {
  const folders = [...new Set(["/", "/tmp", "/run", "/dev", ...shown.flatMap(above)])];
  const devices = PLAIN_DEVICES.map((name) => `/dev/${name}`);
  const ofHome = OF_SKELETON.map((name) => `${home}/${name}`);
  const expected = [...folders, ...shown, ...whole, ...devices, ...ofHome];
  const within = folders.map((folder) => {
    const quoted = folder === "/" ? "" : shellQuote([folder]);
    return `${quoted}/* ${quoted}/.[!.]*`;
  });
  const others = Object.entries(namespaces).filter(([name]) => name !== "net" || !network);
  return `unset ${OF_FIREJAIL.join(" ")}
open() { echo "open $1" >&3; exit 1; }
[ ! -w / ] || open /
${others.map(([name, own]) => `case "$(readlink /proc/self/ns/${name})" in ""|${shellQuote([own])}) open /proc;; esac`).join("\n")}
for one in ${within.join(" ")}; do
case "$one" in ${expected.map((path) => shellQuote([path])).join("|")}) continue;; esac
[ ! -r "$one" ] && [ ! -w "$one" ] && [ ! -x "$one" ] || open "$one"
done
`;
}

function above(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...above(folder)];
}

/** A folder directly in `/` is shown by not hiding it. */
function isBelowTop(path: string): boolean {
  return dirname(path) !== "/";
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => `${path}/`.startsWith(`${folder}/`));
}

function plain(path: string): string {
  if (!SPECIAL.test(path)) return path;
  throw new ExecError(
    "blocked",
    `firejail cannot take the path '${path}': use one of letters, digits and - _ . / only.`,
  );
}
