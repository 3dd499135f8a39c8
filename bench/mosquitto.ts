/** The broker of the bench: a separate Mosquitto on a free port, with the settings that we ship, storing nothing. */
import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { freePort } from "../local/port.ts";
import { ALSO_IN, listens, mosquittoConfig } from "../test/mosquitto.ts";
import { until } from "../test/wait.ts";
import type { Processes } from "./processes.ts";

/** A program that the machine lacks. */
export class MissingProgram extends Error {
  override readonly name = "MissingProgram";
}

/** @param path folders, as in PATH @throws MissingProgram */
export function needMosquitto(path: string): void {
  if (path.split(delimiter).some((folder) => existsSync(join(folder, "mosquitto")))) return;
  throw new MissingProgram("Mosquitto is missing, the broker of the bench: apt-get install mosquitto");
}

/** @param name of its process; one for each broker @returns its address. @throws when it is not installed or does not start */
export async function startMosquitto(dir: string, processes: Processes, name = "mosquitto"): Promise<string> {
  const path = `${process.env.PATH ?? ""}${delimiter}${ALSO_IN}`;
  needMosquitto(path);
  const port = await freePort();
  const config = join(dir, `${name}.conf`);
  writeFileSync(config, mosquittoConfig(port, ["persistence false"]));
  await processes.start(name, ["mosquitto", "-c", config], {
    PATH: path,
  });
  await until(() => listens(port), { what: "Mosquitto listens" });
  return `mqtt://127.0.0.1:${port}`;
}
