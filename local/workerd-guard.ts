/**
 * Ends workerd when this process is killed. Miniflare cannot do that after a SIGKILL, and a remaining workerd keeps the port
 * and writes to the database that its successor opens.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/**
 * A shell that reads process ids from us, and kills the last ones when its input ends. The kernel closes the pipe however we
 * die. An empty line clears the ids.
 */
const GUARD = 'while read -r next; do pids=$next; done; [ -z "$pids" ] || kill -9 $pids 2>/dev/null';

export type WorkerdGuard = {
  /** Finds the workerds of this process again; call it after each start of one. */
  watch(): void;
  /** Resolves when the guard itself is gone. */
  end(): Promise<void>;
};

export function guardWorkerd(): WorkerdGuard {
  // Detached: a Ctrl-C at the terminal must not end the guard before its charge.
  const guard = spawn("/bin/sh", ["-c", GUARD], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  const gone = new Promise<void>((resolve) => {
    guard.once("exit", () => resolve());
    guard.once("error", () => resolve());
  });
  guard.stdin.on("error", () => {});
  guard.unref();
  return {
    watch: () => void guard.stdin.write(`${childrenNamed("workerd").join(" ")}\n`),
    end() {
      guard.stdin.end("\n");
      return gone;
    },
  };
}

/** Returns the ids of our children of that name. Only on Linux; elsewhere there is no guard. */
export function childrenNamed(name: string, parent = process.pid): number[] {
  return processIds().filter((pid) => {
    const stat = readStat(pid);
    return stat?.name === name && stat.parent === parent;
  });
}

function processIds(): number[] {
  try {
    return readdirSync("/proc")
      .filter((entry) => /^\d+$/.test(entry))
      .map(Number);
  } catch {
    return [];
  }
}

/** `pid (name) state ppid …`; the name may hold spaces and parentheses itself (proc(5)). */
function readStat(pid: number): { name: string; parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const end = stat.lastIndexOf(")");
    const parent = Number(stat.slice(end + 2).split(" ")[1]);
    return { name: stat.slice(stat.indexOf("(") + 1, end), parent };
  } catch {
    return undefined;
  }
}
