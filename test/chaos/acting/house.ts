/**
 * A home with rules that act: Mosquitto, Worker, bridge, and devices that count their commands. The bridge's files are on a small disk of
 * their own where this user may mount one, its syncs are written down for power cuts, and its clock can be set.
 */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { freePort } from "../../../local/port.ts";
import { plainEnvironment, programFile, ROOT } from "../../e2e/program.ts";
import { WireTap } from "../../e2e/wire-tap.ts";
import { TOKENS, testVars } from "../../tokens.ts";
import { type Broker, makeBroker } from "../broker.ts";
import { type Disk, mountDisk } from "../disk.ts";
import { Link } from "../link.ts";
import { Program } from "../program.ts";
import { type ActingAgent, makeAgent } from "./agent.ts";
import { ActingDevices } from "./devices.ts";
import { BridgeFiles } from "./files.ts";
import type { ActingGateway } from "./gateway.ts";
import type { StartAhead } from "./history.ts";
import { PlayedGateway } from "./played-gateway.ts";
import { RealGateway } from "./real-gateway.ts";

export type ActingHouse = {
  gateway: ActingGateway;
  bridge: Program;
  broker: Broker;
  links: Record<"gateway" | "broker", Link>;
  /** Sees the frames that reach the gateway, and those that it sends. */
  tap: WireTap;
  devices: ActingDevices;
  /** Undefined with a played gateway. */
  agent: ActingAgent | undefined;
  files: BridgeFiles;
  /** Undefined when this user may not mount one. */
  disk: Disk | undefined;
  /** The folder of the bridge's files, and the list of its syncs. */
  bridgeDir: string;
  synced: string;
  startsAhead: StartAhead[];
  /** Sets the bridge's clock by so many ms, at once or from its next start. */
  setClock(by: number): void;
  start(): Promise<void>;
  stop(): Promise<void>;
};

const imported = (path: string) => ["--import", pathToFileURL(join(ROOT, path)).href];

/** @param options.modelUrl plays the scripts that the questions hold; undefined: the gateway is played */
export async function makeHouse(options: {
  dir: string;
  modelUrl: string | undefined;
  random: () => number;
  onDied: (name: string, how: string) => void;
}): Promise<ActingHouse> {
  const { dir, modelUrl, random } = options;
  const bridgeDir = join(dir, "bridge");
  mkdirSync(bridgeDir, { recursive: true });
  const disk = mountDisk(bridgeDir);
  const [clock, synced] = [join(dir, "clock"), join(dir, "synced.jsonl")];
  writeFileSync(clock, "0");
  writeFileSync(synced, "");
  const program = (name: string, command: string[], env: Record<string, string>) =>
    new Program({
      name,
      command,
      env: { ...plainEnvironment(), ...env },
      log: join(dir, `${name}.log`),
      ready: "says so",
      onDied: (how) => options.onDied(name, how),
    });
  const brokerPort = await freePort();
  const gateway = await gatewayOf();
  const tap = await WireTap.open(gateway.url);
  const links = {
    gateway: await Link.open({ to: Number(new URL(tap.url).port), mqtt: false, random }),
    broker: await Link.open({ to: brokerPort, mqtt: true, random }),
  };
  const broker = makeBroker({ dir, port: brokerPort, onDied: (how) => options.onDied("broker", how) });
  const bridge = program(
    "bridge",
    [
      ...imported("test/power/synced.ts"),
      ...imported("test/settable-clock.mjs"),
      programFile("bridge/main.ts"),
    ],
    {
      BRIDGE_ID: "acting",
      GATEWAY_URL: `http://127.0.0.1:${links.gateway.port}`,
      BRIDGE_TOKEN: TOKENS.bridge,
      MQTT_URL: `mqtt://127.0.0.1:${links.broker.port}`,
      BRIDGE_STATE: bridgeDir,
      HEALTH_PORT: "0",
      PRESENCE: "Hall=hall:Occupancy",
      EDGECALL_TEST_SYNCED: synced,
      CLOCK_SET_BY: clock,
      CLOCK_SET_AT_START: "yes",
    },
  );
  const devices = new ActingDevices(`mqtt://127.0.0.1:${brokerPort}`);
  const files = new BridgeFiles(bridgeDir);
  const agent =
    modelUrl === undefined
      ? undefined
      : await makeAgent({ dir, brokerPort, random, program, marked: devices.marked.bind(devices) });

  async function gatewayOf(): Promise<ActingGateway> {
    if (modelUrl === undefined) {
      const played = new PlayedGateway(TOKENS.bridge);
      await played.start();
      return played;
    }
    const port = await freePort();
    const worker = program("worker", [programFile("local/worker.ts")], {
      ...testVars,
      GATEWAY_TOOLS: "rules",
      TIMEZONE: "Europe/Berlin",
      LLM_BASE_URL: modelUrl,
      PORT: String(port),
      EDGECALL_DIR: join(dir, "gateway"),
    });
    return new RealGateway(`http://127.0.0.1:${port}`, worker);
  }
  return {
    gateway,
    bridge,
    broker,
    links,
    tap,
    devices,
    agent,
    files,
    disk,
    bridgeDir,
    synced,
    startsAhead: [],
    setClock(by) {
      writeFileSync(clock, String(by));
      bridge.note(`its clock is set by ${by} ms`);
      bridge.signal("SIGUSR2");
    },
    async start() {
      await Promise.all([broker.program.start(), gateway.start()]);
      await devices.connect();
      await Promise.all([bridge.start(), agent?.start(gateway.url)]);
    },
    async stop() {
      files.stop();
      await devices.stop();
      await agent?.stop();
      await Promise.all([bridge, broker.program].map((one) => one.kill("the end")));
      await gateway.stop();
      await Promise.all([...Object.values(links), tap].map((one) => one.close()));
      // What it had is looked at after the run.
      cpSync(bridgeDir, join(dir, "bridge-files"), { recursive: true });
      disk?.unmount();
    },
  };
}
