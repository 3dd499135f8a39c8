/**
 * The Debian that every machine of the trial boots. It is made once and kept as a folder; the machines write into their
 * own overlays.
 */
import { createHash } from "node:crypto";
import { appendFileSync, copyFileSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { asRoot, isKept, minimalDebian, RELEASE, SHARED_FOLDER } from "../debian.ts";

/** What a person's machine has before edgecall is installed. iproute2 sets its address. */
const THERE = ["systemd", "systemd-sysv", "dbus", "iproute2", "curl", "ca-certificates", "sudo", "procps"];
/**
 * Packages that the installer may request from apt: downloaded but not installed, because the machines reach no mirror.
 */
const FETCHED = ["bubblewrap", "mosquitto"];
/** Timers that would download packages during the trial. No installation needs them. */
const QUIET = ["apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_all.timer", "e2scrub_reap.service"];

/** @returns the folder; nothing may write to it. Making it needs the network and takes a minute */
export async function debianFolder(say: (line: string) => void): Promise<string> {
  const recipe = createHash("sha256")
    .update(JSON.stringify([RELEASE, THERE, FETCHED, QUIET]))
    .digest("hex");
  const folder = join(SHARED_FOLDER, `edgecall-${RELEASE}-machine-${recipe.slice(0, 8)}`);
  if (isKept(folder)) return folder;
  say(`making a Debian to boot, kept as ${folder}`);
  // Made beside the final place first, so that another run never finds half of it.
  const made = `${folder}.${process.pid}`;
  const inside = (...command: string[]) =>
    // Packages look at /proc. apt and its programs get none of this machine's variables.
    asRoot(
      ...["unshare", "--mount", "--pid", "--fork", `--root=${made}`, "--mount-proc"],
      ...["env", "-i", "PATH=/usr/sbin:/usr/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", ...command],
    );
  const install = (...args: string[]) =>
    inside("apt-get", "install", "-qq", "--no-install-recommends", ...args);
  try {
    mkdirSync(made);
    await asRoot("tar", "-C", made, "-xf", await minimalDebian());
    copyFileSync("/etc/resolv.conf", join(made, "etc/resolv.conf"));
    await inside("apt-get", "update", "-qq");
    await install(...THERE);
    await inside("apt-get", "clean");
    // By default apt-get would delete the downloaded packages.
    appendFileSync(
      join(made, "etc/apt/apt.conf.d/00keep"),
      'Binary::apt-get::APT::Keep-Downloaded-Packages "true";\n',
    );
    await install("--download-only", ...FETCHED);
    rmSync(join(made, "etc/resolv.conf"));
    // A person has an account and sudo.
    await inside("useradd", "--create-home", "--shell", "/bin/sh", "--groups", "sudo", "pi");
    appendFileSync(join(made, "etc/sudoers"), "pi ALL=(ALL) NOPASSWD: ALL\n");
    await inside("systemctl", "mask", "--quiet", ...QUIET);
    renameSync(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return folder;
}
