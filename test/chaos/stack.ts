/**
 * The real stack: two homes, each with Mosquitto, Worker, bridge and agents of its own, the model endpoint, and links between
 * them all. The second home lends its agent to the first one.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify as toToml } from "smol-toml";
import { enrol } from "../../local/enrol.ts";
import { freePort } from "../../local/port.ts";
import { plainEnvironment, programFile } from "../e2e/program.ts";
import { TOKENS, testVars } from "../tokens.ts";
import { until } from "../wait.ts";
import { type Broker, makeBroker } from "./broker.ts";
import { request } from "./client.ts";
import { ConnectedProgram } from "./connected.ts";
import { type Disk, mountDisk } from "./disk.ts";
import { Link } from "./link.ts";
import { type ChaosModel, startModel } from "./model.ts";
import { AGENTS, type AgentId, LENT_AGENT, OWN_AGENTS } from "./plan.ts";
import { Program } from "./program.ts";

/** A line that a call left: the place of the call in the plan, and its id, or `job`. */
export type Effect = { place: string; id: string };

type ChaosAgent = {
  /** Its id in its own home. */
  id: string;
  /** The gateway of its own home. */
  gatewayUrl: string;
  program: Program;
  link: Link;
  /** Absent when this user may not mount. */
  disk: Disk | undefined;
  /** The folder of its own record of calls. */
  recordDir: string;
  effects(): Effect[];
};

export type ChaosHome = {
  /** The Worker's own address, for requests of the exercise itself. */
  gatewayUrl: string;
  worker: Program;
  bridge: Program;
  broker: Broker;
  members: ChaosAgent[];
  /** `public`: what other homes ask of it. */
  links: Record<"gateway" | "bridge-broker" | "public", Link>;
  start(): Promise<void>;
  stop(): Promise<void>;
};

export type ChaosStack = ChaosHome & {
  /** The Worker's address through the client's link. */
  clientUrl: string;
  /** The home that lends. */
  lender: ChaosHome;
  agents: Record<AgentId, ChaosAgent>;
  /** Connected to the home that is asked, over the client's link. */
  program: ConnectedProgram;
  links: ChaosHome["links"] & { client: Link };
  model: ChaosModel;
  /** Starts everything, and has the second home lend its agent. */
  start(): Promise<void>;
  /** Ends every process, also frozen ones, and unmounts the disks. */
  stop(): Promise<void>;
};

type StackOptions = {
  /** The folder for state and logs. */
  dir: string;
  random: () => number;
  onDied: (name: string, how: string) => void;
};

/** Within its own home an agent has no home's name before its id. */
const idAtHome = (agent: AgentId) => agent.slice(agent.indexOf("/") + 1);

/** The lender's name for the home that borrows. */
export const BORROWER = "borrower";
const ONLINE_WITHIN_MS = 20_000;

export async function makeStack(options: StackOptions): Promise<ChaosStack> {
  const { dir, random } = options;
  const model = await startModel();
  const own = await makeHome("", OWN_AGENTS, model, options);
  const lender = await makeHome("lender-", [LENT_AGENT], model, { ...options, dir: join(dir, "lender") });
  const client = await Link.open({ to: Number(new URL(own.gatewayUrl).port), mqtt: false, random });
  const members = [...own.members, ...lender.members];
  const agents = Object.fromEntries(
    AGENTS.map((id) => [id, members.find((one) => one.id === idAtHome(id))]),
  ) as ChaosStack["agents"];
  const clientUrl = `http://127.0.0.1:${client.port}`;
  const program = new ConnectedProgram(clientUrl);
  return {
    ...own,
    clientUrl,
    program,
    lender,
    agents,
    links: { ...own.links, client },
    model,
    async start() {
      await Promise.all([own.start(), lender.start()]);
      await lend(lender, own);
      await program.connect(`http://127.0.0.1:${own.links.public.port}`);
    },
    async stop() {
      await Promise.all([own.stop(), lender.stop(), client.close()]);
      await model.close();
    },
  };
}

/** The owner of the one lends all its agents, and the owner of the other borrows them under the name in `LENT_AGENT`. */
async function lend(lender: ChaosHome, to: ChaosHome): Promise<void> {
  const post = async (
    { gatewayUrl }: ChaosHome,
    path: string,
    body: object,
  ): Promise<Record<string, unknown>> => {
    const response = await request(gatewayUrl, path, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const agents = lender.members.map(({ id }) => id);
  const terms = { agents, scopes: ["ask", "command"], reads_only: false, expires_in_days: 1 };
  // The agent shows what it can do a moment after its start.
  const isOnline = async () => {
    const response = await request(lender.gatewayUrl, "/v1/agents");
    const { agents: known } = (await response.json()) as {
      agents: Array<{ id: string; online: boolean; actions: string[] }>;
    };
    return agents.every((id) => known.some((one) => one.id === id && one.online && one.actions.length > 0));
  };
  await until(isOnline, { within: ONLINE_WITHIN_MS, every: 50, what: "the lender's agents are online" });
  const { invitation } = await post(lender, "/v1/lending", { label: BORROWER, ...terms });
  await post(to, "/v1/borrowing", { invitation, name: LENT_AGENT.slice(0, LENT_AGENT.indexOf("/")) });
}

/** @param prefix of the names of its programs */
async function makeHome(
  prefix: string,
  ids: readonly AgentId[],
  model: ChaosModel,
  options: StackOptions,
): Promise<ChaosHome> {
  const { dir, random } = options;
  mkdirSync(dir, { recursive: true });
  const died = (name: string) => (how: string) => options.onDied(`${prefix}${name}`, how);
  const [gatewayPort, brokerPort] = await Promise.all([freePort(), freePort()]);
  const open = (to: number, mqtt: boolean) => Link.open({ to, mqtt, random });
  const links = {
    gateway: await open(gatewayPort, false),
    "bridge-broker": await open(brokerPort, true),
    public: await open(gatewayPort, false),
  };
  const gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
  const modelVars = { LLM_BASE_URL: model.url, LLM_MODEL: "chaos" };
  const program = (name: string, command: string[], env: Record<string, string>) =>
    new Program({
      name: `${prefix}${name}`,
      command,
      env: { ...plainEnvironment(), ...env },
      log: join(dir, `${name}.log`),
      ready: "says so",
      onDied: died(name),
    });

  const broker = makeBroker({ dir, port: brokerPort, onDied: died("broker") });
  const worker = program("worker", [programFile("local/worker.ts")], {
    ...testVars,
    ...modelVars,
    PUBLIC_URL: `http://127.0.0.1:${links.public.port}`,
    PORT: String(gatewayPort),
    EDGECALL_DIR: join(dir, "gateway"),
  });
  const bridge = program("bridge", [programFile("bridge/main.ts")], {
    BRIDGE_ID: "chaos",
    GATEWAY_URL: `http://127.0.0.1:${links.gateway.port}`,
    BRIDGE_TOKEN: TOKENS.bridge,
    MQTT_URL: `mqtt://127.0.0.1:${links["bridge-broker"].port}`,
    HEALTH_PORT: "0",
  });

  async function makeAgent(agent: AgentId): Promise<ChaosAgent> {
    const id = idAtHome(agent);
    const link = await open(brokerPort, true);
    const state = join(dir, id, "state");
    const disk = mountDisk(state);
    const workspace = join(dir, id, "effects");
    for (const folder of [state, workspace]) mkdirSync(folder, { recursive: true });
    const config = join(dir, id, "agent.toml");
    const settings = {
      agent_id: id,
      state_dir: state,
      capabilities: `${id}, an agent that appends`,
      mqtt: { url: `mqtt://127.0.0.1:${link.port}` },
      // Its jobs leave their effects in the folder in which `append` does. The disk of its state is too small for a sandbox's bounds.
      tools: { workspace, sandboxing: "none" },
      // A turn calls several agents, and no person is present to approve.
      policy: { append: { rule: "allow", tainted: "allow" }, bash: { rule: "allow", tainted: "allow" } },
    };
    writeFileSync(config, toToml(settings));
    const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: join(workspace, "appended"), ...modelVars };
    return {
      id,
      gatewayUrl,
      program: program(id, [programFile("pi-agent/main.ts"), "--config", config], env),
      link,
      disk,
      recordDir: join(state, "audit"),
      effects: () =>
        readdirSync(workspace, { withFileTypes: true })
          .filter((entry) => entry.isFile())
          .flatMap(({ name: place }) => linesOf(join(workspace, place)).map((line) => ({ place, id: line }))),
    };
  }

  const members = await Promise.all(ids.map(makeAgent));
  const programs = [worker, bridge, ...members.map((agent) => agent.program), broker.program];
  return {
    gatewayUrl,
    worker,
    bridge,
    broker,
    members,
    links,
    async start() {
      await Promise.all([broker.program.start(), worker.start()]);
      for (const { id } of members)
        await enrol({
          url: gatewayUrl,
          token: TOKENS.owner,
          agentId: id,
          stateDir: join(dir, id, "state"),
        });
      await Promise.all([bridge, ...members.map((agent) => agent.program)].map((one) => one.start()));
    },
    async stop() {
      await Promise.all(programs.map((one) => one.kill("the end of the exercise")));
      await Promise.all(
        [...Object.values(links), ...members.map((agent) => agent.link)].map((one) => one.close()),
      );
      for (const { disk } of members) disk?.unmount();
    },
  };
}

/** The lines of a file that are not empty. */
export function linesOf(file: string): string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
}
