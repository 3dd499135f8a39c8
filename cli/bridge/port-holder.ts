/** Finds the program that listens on a TCP port of this machine, from /proc. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** The state LISTEN in /proc/net/tcp. */
const LISTENING = "0A";

/**
 * @param proc /proc, except in tests
 * @returns for a person, for instance "mosquitto (process 512, mosquitto.service)"; undefined: nothing listens
 */
export function portHolder(port: number, proc = "/proc"): string | undefined {
  const sockets = ["tcp", "tcp6"].flatMap((table) => listeningSockets(port, join(proc, "net", table)));
  if (sockets.length === 0) return undefined;
  for (const pid of readdirSync(proc).filter((name) => /^\d+$/.test(name))) {
    if (!holds(join(proc, pid, "fd"), sockets)) continue;
    const name = textOf(join(proc, pid, "comm")).trim() || "a program";
    const unit = /([^/\n]+\.service)$/m.exec(textOf(join(proc, pid, "cgroup")))?.[1];
    return `${name} (process ${pid}${unit === undefined ? "" : `, ${unit}`})`;
  }
  return "a program of another container or user";
}

/** The columns of a line: number, local address and port in hex, remote, state, …, inode as the tenth. */
function listeningSockets(port: number, table: string): string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return textOf(table)
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(end) && state === LISTENING)
    .map((columns) => `socket:[${columns[9]}]`);
}

function holds(fds: string, sockets: readonly string[]): boolean {
  try {
    return readdirSync(fds).some((fd) => {
      try {
        return sockets.includes(readlinkSync(join(fds, fd)));
      } catch {
        return false;
      }
    });
  } catch {
    // The process has ended, or may not be read.
    return false;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
