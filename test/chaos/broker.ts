/** The broker of the exercise: a Mosquitto that writes what it knows to disk at every change. */
import { rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { Program } from "./program.ts";

/** Debian puts it where a person's PATH does not reach. */
const ALSO_IN = "/usr/sbin";

export type Broker = {
  program: Program;
  /** For a start with an empty memory. */
  forget(): void;
};

/** @param options.dir where its configuration, database and log go */
export function makeBroker(options: { dir: string; port: number; onDied: (how: string) => void }): Broker {
  const { dir, port, onDied } = options;
  const config = join(dir, "mosquitto.conf");
  const lines = [
    `listener ${port} 127.0.0.1`,
    "allow_anonymous true",
    "set_tcp_nodelay true",
    "persistence true",
    `persistence_location ${dir}/`,
    // Else it would write at the end alone, and a SIGKILL is none.
    "autosave_on_changes true",
    "autosave_interval 1",
    // Started by root it would become `mosquitto`, who may not write there.
    "user root",
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  const program = new Program({
    name: "broker",
    command: ["mosquitto", "-v", "-c", config],
    env: { PATH: `${process.env.PATH ?? ""}${delimiter}${ALSO_IN}` },
    log: join(dir, "broker.log"),
    ready: () => answers(port),
    onDied,
  });
  return {
    program,
    forget() {
      for (const name of ["mosquitto.db", "mosquitto.db.new"]) rmSync(join(dir, name), { force: true });
    },
  };
}

/** Whether somebody listens there. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
