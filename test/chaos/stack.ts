/** The real stack: Mosquitto, Worker, bridge, three agents, the model endpoint, and links between them. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify as toToml } from "smol-toml";
import { enrol } from "../../local/enrol.ts";
import { freePort } from "../../local/port.ts";
import { TOKENS, testVars } from "../tokens.ts";
import { type Broker, makeBroker } from "./broker.ts";
import { type Disk, mountDisk } from "./disk.ts";
import { Link } from "./link.ts";
import { type ChaosModel, startModel } from "./model.ts";
import { AGENTS, type AgentId } from "./plan.ts";
import { Program } from "./program.ts";

type ChaosAgent = {
  id: AgentId;
  program: Program;
  link: Link;
  /** Absent when this user may not mount. */
  disk: Disk | undefined;
  /** The ids of the calls that took effect, in order. */
  lines(): string[];
};

export type ChaosStack = {
  /** The Worker's own address, for requests of the exercise itself. */
  gatewayUrl: string;
  /** The Worker's address through the client's link. */
  clientUrl: string;
  worker: Program;
  bridge: Program;
  broker: Broker;
  agents: Record<AgentId, ChaosAgent>;
  links: Record<"client" | "gateway" | "bridge-broker", Link>;
  model: ChaosModel;
  start(): Promise<void>;
  /** Ends every process, also frozen ones, and unmounts the disks. */
  stop(): Promise<void>;
};

const script = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** @param options.dir the folder for state and logs */
export async function makeStack(options: {
  dir: string;
  random: () => number;
  onDied: (name: string, how: string) => void;
}): Promise<ChaosStack> {
  const { dir, random } = options;
  const died = (name: string) => (how: string) => options.onDied(name, how);
  const [gatewayPort, brokerPort, model] = await Promise.all([freePort(), freePort(), startModel()]);
  const open = (to: number, mqtt: boolean) => Link.open({ to, mqtt, random });
  const links = {
    client: await open(gatewayPort, false),
    gateway: await open(gatewayPort, false),
    "bridge-broker": await open(brokerPort, true),
  };
  const program = (name: string, command: string[], env: Record<string, string>) =>
    new Program({
      name,
      command,
      env: { ...plainEnvironment(), ...env },
      log: join(dir, `${name}.log`),
      ready: "says so",
      onDied: died(name),
    });

  const broker = makeBroker({ dir, port: brokerPort, onDied: died("broker") });
  const worker = program("worker", [script("local/worker.ts")], {
    ...testVars,
    LLM_BASE_URL: model.url,
    LLM_MODEL: "chaos",
    PORT: String(gatewayPort),
    EDGECALL_DIR: join(dir, "gateway"),
  });
  const bridge = program("bridge", [script("bridge/main.ts")], {
    BRIDGE_ID: "chaos",
    GATEWAY_URL: `http://127.0.0.1:${links.gateway.port}`,
    BRIDGE_TOKEN: TOKENS.bridge,
    MQTT_URL: `mqtt://127.0.0.1:${links["bridge-broker"].port}`,
    HEALTH_PORT: "0",
  });

  async function makeAgent(id: AgentId): Promise<ChaosAgent> {
    const link = await open(brokerPort, true);
    const state = join(dir, id, "state");
    const disk = mountDisk(state);
    mkdirSync(state, { recursive: true });
    const config = join(dir, id, "agent.toml");
    const marks = join(dir, id, "appended");
    const settings = {
      agent_id: id,
      state_dir: state,
      capabilities: `${id}, an agent that appends`,
      mqtt: { url: `mqtt://127.0.0.1:${link.port}` },
      // A turn calls several agents, and no person is present to approve.
      policy: { append: { rule: "allow", tainted: "allow" } },
    };
    writeFileSync(config, toToml(settings));
    writeFileSync(marks, "");
    const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: marks };
    return {
      id,
      program: program(id, [script("pi-agent/main.ts"), "--config", config], env),
      link,
      disk,
      lines: () =>
        readFileSync(marks, "utf8")
          .split("\n")
          .filter((line) => line !== ""),
    };
  }

  const made = await Promise.all(AGENTS.map(makeAgent));
  const agents = Object.fromEntries(made.map((agent) => [agent.id, agent])) as ChaosStack["agents"];
  const programs = [worker, bridge, ...made.map((agent) => agent.program), broker.program];
  return {
    gatewayUrl: `http://127.0.0.1:${gatewayPort}`,
    clientUrl: `http://127.0.0.1:${links.client.port}`,
    worker,
    bridge,
    broker,
    agents,
    links,
    model,
    async start() {
      await Promise.all([broker.program.start(), worker.start()]);
      for (const { id } of made)
        await enrol({
          url: `http://127.0.0.1:${gatewayPort}`,
          token: TOKENS.owner,
          agentId: id,
          stateDir: join(dir, id, "state"),
        });
      await Promise.all([bridge, ...made.map((agent) => agent.program)].map((one) => one.start()));
    },
    async stop() {
      await Promise.all(programs.map((one) => one.kill("the end of the exercise")));
      await Promise.all(
        [...Object.values(links), ...made.map((agent) => agent.link)].map((one) => one.close()),
      );
      for (const { disk } of made) disk?.unmount();
      await model.close();
    },
  };
}

/** The environment without the personal settings of this user. */
function plainEnvironment(): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  return { PATH, HOME, TMPDIR, LANG };
}
