/** What every Mosquitto of the tests has in common: its settings, as the one that we ship, and whether it listens. */
import { connect } from "node:net";

/** Debian puts it where a person's PATH does not reach. */
export const ALSO_IN = "/usr/sbin";

/**
 * @param more lines of its configuration
 * @returns the text of mosquitto.conf
 */
export function mosquittoConfig(port: number, more: readonly string[] = []): string {
  const lines = [`listener ${port} 127.0.0.1`, "allow_anonymous true", "set_tcp_nodelay true", ...more];
  return `${lines.join("\n")}\n`;
}

/** To keep retained messages over a restart. */
export function keptIn(dir: string): string[] {
  // Started by root it would become `mosquitto`, who may not write there.
  return ["persistence true", `persistence_location ${dir}/`, "user root"];
}

/** Whether somebody listens there. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
