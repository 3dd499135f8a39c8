/** Real brokers on free ports of the loopback, for tests. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Aedes } from "aedes";
import { freePort } from "../../local/port.ts";
import { ALSO_IN, keptIn, listens, mosquittoConfig } from "../../test/mosquitto.ts";
import { until } from "../../test/wait.ts";

export type PlayedBroker = { url: string; stop(): Promise<void> };

/** aedes, as in the local stack: MQTT 3.1.1, nothing stored. */
export async function startAedes(): Promise<PlayedBroker> {
  const aedes = await Aedes.createBroker();
  const server = createServer({ noDelay: true }, aedes.handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      await new Promise<void>((resolve) => aedes.close(resolve));
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the path of Mosquitto. */
export function findMosquitto(): string | undefined {
  for (const path of ["mosquitto", `${ALSO_IN}/mosquitto`]) {
    try {
      execFileSync(path, ["-h"], { stdio: "ignore" });
      return path;
    } catch (error) {
      // It prints its help and exits with 3, or it does not exist.
      if (error instanceof Error && "status" in error && typeof error.status === "number") return path;
    }
  }
  return undefined;
}

/** The PEM files of a broker with TLS. */
export type BrokerCertificate = { cert: string; key: string };

/** Mosquitto 2: MQTT 5. Retained messages survive `restart`. */
export class PlayedMosquitto {
  readonly #program: string;
  readonly #config: string;
  readonly port: number;
  readonly #tls: boolean;
  #process: ChildProcess | undefined;

  private constructor(program: string, port: number, tls: BrokerCertificate | undefined) {
    this.#program = program;
    this.port = port;
    this.#tls = tls !== undefined;
    const dir = mkdtempSync(join(tmpdir(), "mosquitto-"));
    this.#config = join(dir, "mosquitto.conf");
    const encrypted = tls ? [`certfile ${tls.cert}`, `keyfile ${tls.key}`] : [];
    writeFileSync(this.#config, mosquittoConfig(port, [...encrypted, ...keptIn(dir)]));
  }

  static async start(program: string, tls?: BrokerCertificate): Promise<PlayedMosquitto> {
    const broker = new PlayedMosquitto(program, await freePort(), tls);
    await broker.begin();
    return broker;
  }

  get url(): string {
    return `${this.#tls ? "mqtts" : "mqtt"}://127.0.0.1:${this.port}`;
  }

  async begin(): Promise<void> {
    this.#process = spawn(this.#program, ["-c", this.#config], { stdio: "ignore" });
    await until(() => listens(this.port), { what: `Mosquitto on port ${this.port}` });
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await gone;
  }
}
