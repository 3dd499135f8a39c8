/** The broker of the bench: a separate Mosquitto on a free port, with the settings that we ship, storing nothing. */
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { freePort } from "../local/port.ts";
import { ALSO_IN, listens, mosquittoConfig } from "../test/mosquitto.ts";
import { until } from "../test/wait.ts";
import type { Processes } from "./processes.ts";

/** @param name of its process; one for each broker @returns its address. @throws when it is not installed or does not start */
export async function startMosquitto(dir: string, processes: Processes, name = "mosquitto"): Promise<string> {
  const port = await freePort();
  const config = join(dir, `${name}.conf`);
  writeFileSync(config, mosquittoConfig(port, ["persistence false"]));
  await processes.start(name, ["mosquitto", "-c", config], {
    PATH: `${process.env.PATH ?? ""}${delimiter}${ALSO_IN}`,
  });
  await until(() => listens(port), {
    what: "Mosquitto listens (apt-get install mosquitto, if it is missing)",
  });
  return `mqtt://127.0.0.1:${port}`;
}
