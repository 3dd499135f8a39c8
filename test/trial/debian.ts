/**
 * The Debian that every machine of the trial boots: a fresh one by debootstrap, made once and kept as a folder, for
 * the machines write into overlays of their own.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, copyFileSync, existsSync, lstatSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MIRROR = process.env.DEBIAN_MIRROR ?? "http://deb.debian.org/debian";
const RELEASE = "bookworm";
/** What a person's machine has before anything of ours is there. iproute2 gives it its address. */
const THERE = ["systemd", "systemd-sysv", "dbus", "iproute2", "curl", "ca-certificates", "sudo", "procps"];
/** What our installer may ask apt for: on the disk, not installed. The machines reach no mirror. */
const FETCHED = ["bubblewrap", "mosquitto"];
/** Timers that would ask the network for packages while we measure, and nothing that an installation needs. */
const QUIET = ["apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_all.timer", "e2scrub_reap.service"];

/** @returns its folder; nobody may write to it. Half a minute when it has to be made, with the network */
export function debianFolder(say: (line: string) => void): string {
  const recipe = createHash("sha256")
    .update(JSON.stringify([RELEASE, THERE, FETCHED, QUIET]))
    .digest("hex");
  const folder = join(tmpdir(), `edgecall-${RELEASE}-machine-${recipe.slice(0, 8)}`);
  if (existsSync(folder)) {
    // Anybody may make a folder there, and root is about to start what is in it.
    if (lstatSync(folder).uid !== 0) throw new Error(`${folder} is not root's; take it away first`);
    return folder;
  }
  say(`making a Debian to boot, kept as ${folder}`);
  // Beside it first: another run never finds half of it.
  const made = `${folder}.${process.pid}`;
  try {
    run("debootstrap", "--variant=minbase", `--include=${THERE.join(",")}`, RELEASE, made, MIRROR);
    copyFileSync("/etc/resolv.conf", join(made, "etc/resolv.conf"));
    // Else apt-get would take away what it has fetched.
    appendFileSync(
      join(made, "etc/apt/apt.conf.d/00keep"),
      'Binary::apt-get::APT::Keep-Downloaded-Packages "true";\n',
    );
    run("chroot", made, "apt-get", "clean");
    run("chroot", made, "apt-get", "update", "-qq");
    run(
      "chroot",
      made,
      "apt-get",
      "install",
      "-qq",
      "--no-install-recommends",
      "--download-only",
      ...FETCHED,
    );
    rmSync(join(made, "etc/resolv.conf"));
    // A person has an account and sudo.
    run("chroot", made, "useradd", "--create-home", "--shell", "/bin/sh", "--groups", "sudo", "pi");
    appendFileSync(join(made, "etc/sudoers"), "pi ALL=(ALL) NOPASSWD: ALL\n");
    run("chroot", made, "systemctl", "mask", "--quiet", ...QUIET);
    renameSync(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return folder;
}

function run(program: string, ...args: string[]): void {
  const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
  execFileSync(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
  });
}
