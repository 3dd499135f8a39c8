/** The demo home's clock for a house at speed. It waits while a client of the broker lags: a slow machine takes longer, and loses nothing. */
import { readFileSync } from "node:fs";
import { type DemoClock, realClock } from "../../local/demo/clock.ts";

/** A client with no more than this to read keeps pace. */
const UNREAD_MAX = 32_768;
const LOOK_EVERY_MS = 20;

/** @param port the broker's, of the loopback */
export function pacedClock(port: number): DemoClock {
  return {
    ...realClock,
    after(ms, run) {
      const goOn = () => {
        if (unread(port) <= UNREAD_MAX) run();
        else callOff = realClock.after(LOOK_EVERY_MS, goOn);
      };
      let callOff = realClock.after(ms, goOn);
      return () => callOff();
    },
  };
}

/** @returns bytes that wait in sockets of this port: Linux tells them for each (proc_pid_net(5)) */
function unread(port: number): number {
  const hex = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n");
  const queues = lines.flatMap((line) => {
    const [, local = "", remote = "", , queued = ""] = line.trim().split(/\s+/);
    return local.endsWith(hex) || remote.endsWith(hex) ? queued.split(":") : [];
  });
  return queues.reduce((sum, bytes) => sum + Number.parseInt(bytes, 16), 0);
}
