/** The broker of the exercise: a Mosquitto that writes its state to disk at every change. */
import { rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ALSO_IN, keptIn, listens, mosquittoConfig } from "../mosquitto.ts";
import { Program } from "./program.ts";

export type Broker = {
  program: Program;
  /** Deletes the state, so that the next start has an empty memory. */
  forget(): void;
};

/** @param options.dir where its configuration, database and log go */
export function makeBroker(options: { dir: string; port: number; onDied: (how: string) => void }): Broker {
  const { dir, port, onDied } = options;
  const config = join(dir, "mosquitto.conf");
  // By default Mosquitto writes only when it ends, and SIGKILL gives it no time for that.
  const atOnce = ["autosave_on_changes true", "autosave_interval 1"];
  writeFileSync(config, mosquittoConfig(port, [...keptIn(dir), ...atOnce]));
  const program = new Program({
    name: "broker",
    command: ["mosquitto", "-v", "-c", config],
    env: { PATH: `${process.env.PATH ?? ""}${delimiter}${ALSO_IN}` },
    log: join(dir, "broker.log"),
    ready: () => listens(port),
    onDied,
  });
  return {
    program,
    forget() {
      for (const name of ["mosquitto.db", "mosquitto.db.new"]) rmSync(join(dir, name), { force: true });
    },
  };
}
