/**
 * A machine with its own systemd for installation tests: systemd-nspawn over this machine's read-only /usr, with its own /etc
 * and /var and only a loopback network. It boots in a second and leaves no files.
 */
import { spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { cgroupFolders, enterCgroups, removeCgroups } from "./cgroups.ts";

export type Ran = { code: number; out: string; log: string };
/** Files by their paths in the machine: a text, or a file or folder here that is bound read-only. */
export type MachineFiles = Readonly<Record<string, { text: string } | { bind: string }>>;

/** Files of this machine's /etc that programs need and that hold no settings of a person. */
const ETC = ["ld.so.cache", "nsswitch.conf", "login.defs", "os-release", "debian_version", "protocols"];
const USERS = `root:x:0:0:root:/root:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
mosquitto:x:101:101::/nonexistent:/usr/sbin/nologin
systemd-network:x:998:998::/:/usr/sbin/nologin
`;
const GROUPS = `root:x:0:
nogroup:x:65534:
mosquitto:x:101:
systemd-network:x:998:
systemd-journal:x:999:
tty:x:5:
video:x:44:
`;

/** Boots the machine, runs a shell script in it as root, and stops it. */
export async function runInMachine(options: {
  script: string;
  files: MachineFiles;
  within: number;
}): Promise<Ran> {
  const root = mkdtempSync(join(tmpdir(), "edgecall-machine-"));
  const cgroups = cgroupFolders(basename(root));
  try {
    // The folder becomes the machine's `/`, which every user may enter.
    chmodSync(root, 0o755);
    const binds = furnish(root, options);
    const log = await boot(root, { binds, cgroups, within: options.within });
    const read = (name: string) =>
      existsSync(join(root, name)) ? readFileSync(join(root, name), "utf8") : "";
    return { code: Number(read("/result/code") || "1"), out: read("/result/out"), log };
  } finally {
    removeCgroups(cgroups);
    rmSync(root, { recursive: true, force: true });
    rmSync(`/run/systemd/nspawn/propagate/${basename(root)}`, { recursive: true, force: true });
  }
}

function furnish(root: string, { script, files }: Parameters<typeof runInMachine>[0]): string[] {
  for (const folder of [
    "usr",
    "proc",
    "sys",
    "dev",
    "run",
    "tmp",
    "root",
    "result",
    "var/lib",
    "var/log",
    "home",
  ])
    mkdirSync(join(root, folder), { recursive: true });
  for (const name of ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]) {
    const stat = lstatSync(`/${name}`, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink()) symlinkSync(readlinkSync(`/${name}`), join(root, name));
  }
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  mkdirSync(join(root, "etc"));
  for (const name of ETC)
    if (existsSync(`/etc/${name}`)) copyFileSync(`/etc/${name}`, join(root, "etc", name));
  write("/etc/passwd", USERS);
  write("/etc/group", GROUPS);
  write("/etc/shadow", "root:*:20000:0:99999:7:::\n");
  // Without an id, systemd would treat this as a first boot and enable every service.
  write("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  write("/script", script);
  write(
    "/etc/systemd/system/default.target",
    "[Unit]\nRequires=basic.target\nWants=script.service\nAfter=basic.target\n",
  );
  write(
    "/etc/systemd/system/script.service",
    `[Service]
Type=oneshot
ExecStart=/bin/sh -c 'sh /script > /result/out 2>&1; echo $$? > /result/code; systemctl --no-block --force poweroff'
`,
  );
  return Object.entries(files).flatMap(([path, file]) => {
    if ("bind" in file) return [`--bind-ro=${file.bind}:${path}`];
    write(path, file.text);
    return [];
  });
}

function boot(
  root: string,
  options: { binds: readonly string[]; cgroups: readonly string[]; within: number },
): Promise<string> {
  const { binds, cgroups, within } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(
      "sh",
      [
        ...["-c", `${enterCgroups(cgroups)}exec "$@"`, "sh"],
        ...[
          "systemd-nspawn",
          "--quiet",
          "--boot",
          "--register=no",
          "--keep-unit",
          "--console=pipe",
          "--private-network",
        ],
        ...[`--directory=${root}`, "--bind-ro=/usr", "--tmpfs=/usr/local", ...binds],
      ],
      {
        stdio: ["ignore", "pipe", "pipe"],
        // A whole /proc as on a real machine, since bubblewrap can only mount its own where one exists.
        env: { ...process.env, SYSTEMD_NSPAWN_API_VFS_WRITABLE: "yes" },
        timeout: within,
        killSignal: "SIGKILL",
      },
    );
    let log = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        log += chunk;
      });
    child.on("error", reject);
    child.on("close", () => resolve(log));
  });
}
