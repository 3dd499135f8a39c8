/**
 * Tells systemd that the service is ready, alive or stopping, and what it does.
 *
 * NOTIFY_SOCKET is a datagram socket, which Node cannot open. The service's launcher opens it and passes it on as a
 * descriptor. So a datagram is one write, without a program for each sign of life, and systemd can be told to listen to
 * this process alone.
 */
import { writeSync } from "node:fs";

export type Notify = {
  ready(): void;
  /** One line for `systemctl status`. */
  status(text: string): void;
  stopping(): void;
};

/** Signs of life within the watchdog's time: two may be late before systemd takes the process for hung. */
const BEATS_IN_TIME = 3;

/**
 * Opens the channel to systemd, and sends signs of life while the process's event loop runs.
 * @param env `EDGECALL_NOTIFY_FD` (from the launcher), `WATCHDOG_USEC` (from systemd); without the first nothing is sent
 * @param onFault gets the error when a message did not reach systemd
 */
export function openNotify(
  env: Readonly<Record<string, string | undefined>>,
  onFault: (error: unknown) => void,
): Notify {
  const fd = Number(env.EDGECALL_NOTIFY_FD);
  if (!Number.isInteger(fd) || fd <= 2) return { ready() {}, status() {}, stopping() {} };
  const send = (text: string) => {
    try {
      writeSync(fd, text);
    } catch (error) {
      onFault(error);
    }
  };
  const watchdogMs = Number(env.WATCHDOG_USEC) / 1_000;
  const beats =
    watchdogMs > 0 ? setInterval(() => send("WATCHDOG=1"), watchdogMs / BEATS_IN_TIME) : undefined;
  return {
    ready: () => send("READY=1"),
    status: (text) => send(`STATUS=${text.replace(/\s+/g, " ")}`),
    stopping() {
      // From here on systemd measures the time of the stop instead.
      clearInterval(beats);
      send("STOPPING=1");
    },
  };
}
