/** The broker of the bench: a Mosquitto of its own on a free port, set as the one that we ship, nothing kept. */
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { freePort } from "../../local/port.ts";
import { until } from "../wait.ts";
import type { Processes } from "./processes.ts";

/** Debian puts it where a person's PATH does not reach. */
const ALSO_IN = "/usr/sbin";

/** @returns its address. @throws when it is not installed or does not start */
export async function startMosquitto(dir: string, processes: Processes): Promise<string> {
  const port = await freePort();
  const config = join(dir, "mosquitto.conf");
  writeFileSync(
    config,
    [
      `listener ${port} 127.0.0.1`,
      "allow_anonymous true",
      "set_tcp_nodelay true",
      "persistence false",
      "",
    ].join("\n"),
  );
  await processes.start("mosquitto", ["mosquitto", "-c", config], {
    PATH: `${process.env.PATH ?? ""}${delimiter}${ALSO_IN}`,
  });
  await until(() => answers(port), {
    what: "Mosquitto listens (apt-get install mosquitto, if it is missing)",
  });
  return `mqtt://127.0.0.1:${port}`;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
