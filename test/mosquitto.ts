/** Settings of every Mosquitto in tests, equal to those that we ship, and a check that it listens. */
import { connect } from "node:net";
import { MOSQUITTO_QUEUE } from "@edgecall/core/broker/mosquitto.ts";

/** Debian installs it in a folder that an ordinary user's PATH lacks. */
export const ALSO_IN = "/usr/sbin";

/**
 * @param more lines of its configuration
 * @returns the text of mosquitto.conf
 */
export function mosquittoConfig(port: number, more: readonly string[] = []): string {
  const listener = [`listener ${port} 127.0.0.1`, "allow_anonymous true", "set_tcp_nodelay true"];
  const lines = [...listener, ...MOSQUITTO_QUEUE, ...more];
  return `${lines.join("\n")}\n`;
}

/** Returns settings that keep retained messages over a restart. */
export function keptIn(dir: string): string[] {
  // Started by root it would switch to the user `mosquitto`, which may not write there.
  return ["persistence true", `persistence_location ${dir}/`, "user root"];
}

/** Whether a program listens on the port. */
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
