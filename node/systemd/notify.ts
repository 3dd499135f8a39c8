/**
 * Speaks with systemd: ready, alive, stopping, and one line of what it does.
 *
 * NOTIFY_SOCKET is a datagram socket, which Node cannot open. The service's launcher opens it and hands it down as a
 * descriptor: a datagram is then one write, without a program for each sign of life, and systemd can be told to
 * listen to this process alone.
 */

import { writeSync } from "node:fs";

export type Notify = {
  ready(): void;
  /** One line for `systemctl status`. */
  status(text: string): void;
  stopping(): void;
};

/** Of the watchdog's time: two signs of life may be late before systemd takes the process for hung. */
const BEATS_IN_TIME = 3;

/**
 * Signs of life go on from here while the process's event loop turns.
 * @param env `EDGECALL_NOTIFY_FD` (the launcher's), `WATCHDOG_USEC` (systemd's); without the first nothing is said
 * @param onFault is told why a word did not reach systemd
 */
export function openNotify(
  env: Readonly<Record<string, string | undefined>>,
  onFault: (error: unknown) => void,
): Notify {
  const fd = Number(env.EDGECALL_NOTIFY_FD);
  if (!Number.isInteger(fd) || fd <= 2) return { ready() {}, status() {}, stopping() {} };
  const say = (text: string) => {
    try {
      writeSync(fd, text);
    } catch (error) {
      onFault(error);
    }
  };
  const watchdogMs = Number(env.WATCHDOG_USEC) / 1_000;
  const beats = watchdogMs > 0 ? setInterval(() => say("WATCHDOG=1"), watchdogMs / BEATS_IN_TIME) : undefined;
  return {
    ready: () => say("READY=1"),
    status: (text) => say(`STATUS=${text.replace(/\s+/g, " ")}`),
    stopping() {
      // From here on systemd counts the time of the stop instead.
      clearInterval(beats);
      say("STOPPING=1");
    },
  };
}
