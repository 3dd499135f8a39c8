/** The programs that the trial needs, for the person who starts it and for a test that names the missing ones. */
import { spawnSync } from "node:child_process";

const PROGRAMS = {
  "systemd-nspawn": "systemd-container",
  debootstrap: "debootstrap",
  iptables: "iptables",
  ip: "iproute2",
  setpriv: "util-linux",
  unshare: "util-linux",
  nsenter: "util-linux",
};

export function missingForTrial(): string[] {
  if (process.platform !== "linux") return ["Linux"];
  if (process.getuid?.() !== 0) return ["root"];
  return Object.entries(PROGRAMS).flatMap(([program, from]) => {
    const { status } = spawnSync("sh", ["-c", `PATH="$PATH:/usr/sbin:/sbin"; command -v ${program}`]);
    return status === 0 ? [] : [`${program} (apt install ${from})`];
  });
}
