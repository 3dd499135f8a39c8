/**
 * The whole path in real processes: broker, Worker, bridge, agents and a model endpoint. Each can be killed, frozen and
 * restarted. `useStack` ends all of them, whatever a test did.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify as toToml } from "smol-toml";
import { afterAll, afterEach, beforeAll } from "vitest";
import { PlayedMosquitto } from "../../bridge/testkit/brokers.ts";
import { startBroker } from "../../local/broker.ts";
import { enrol } from "../../local/enrol.ts";
import { freePort } from "../../local/port.ts";
import { programFolder, type Scripts } from "../../pi-agent/testing/programs/folder.ts";
import { PI_ZERO_2W, tree } from "../../pi-agent/testing/tree.ts";
import { type ScriptedModel, startScriptedModel } from "../scripted-model.ts";
import { TOKENS, testVars } from "../tokens.ts";
import { GatewayClient } from "./gateway-client.ts";
import { Program } from "./program.ts";

export type StackOptions = {
  /** The path of a Mosquitto; without one the embedded aedes is used. */
  mosquitto?: string | undefined;
  /** Replaces today's Worker (local/worker.ts). */
  workerScript?: string;
  /** Variables of the Worker. */
  vars?: Record<string, string>;
  bridge?: Record<string, string>;
  /** A bundle that replaces today's bridge. */
  bridgeScript?: string;
};

export type AgentOptions = {
  id: string;
  capabilities?: string;
  /** True: it uses the stack's model. Without a model its actions are called by name. */
  model?: boolean;
  /** True: it has no key, as before pairing, so `ALLOW_UNSIGNED_AGENTS` has to name it. */
  unsigned?: boolean;
  /** More keys and tables of its agent.toml. */
  top?: Record<string, unknown> & { tools?: Record<string, unknown> };
  /** The port of its metrics. */
  metricsPort?: number;
  env?: Record<string, string>;
  /** Files below its `rootOf`; by default those of a Pi Zero. */
  board?: Readonly<Record<string, string>>;
  /** A bundle that replaces today's agent. */
  script?: string;
  /** Programs that it finds before those of this machine. */
  programs?: Scripts;
};

type StackAgent = {
  program: Program;
  root: string;
  workspace: string;
  programs: string | undefined;
  restart: () => Promise<Program>;
};

type Broker = { url: string; stop(): Promise<void>; restart(): Promise<void> };

/** The agent's key folder, if its settings name one. */
const stateDirOf = ({ state_dir }: Record<string, unknown>) =>
  typeof state_dir === "string" ? state_dir : undefined;

export class Stack {
  readonly #options: StackOptions;
  readonly #programs: Program[] = [];
  readonly #agents = new Map<string, StackAgent>();
  #broker: Broker | undefined;
  #scripted: ScriptedModel | undefined;
  #gateway: GatewayClient | undefined;
  #worker: Program | undefined;
  #bridge: Program | undefined;
  #port = 0;
  #dir = "";

  constructor(options: StackOptions) {
    this.#options = options;
  }

  get mqttUrl(): string {
    return there(this.#broker).url;
  }
  get gateway(): GatewayClient {
    return there(this.#gateway);
  }
  get model(): ScriptedModel {
    return there(this.#scripted);
  }
  get worker(): Program {
    return there(this.#worker);
  }
  get bridge(): Program {
    return there(this.#bridge);
  }

  /** The folder of the Worker's rows. */
  get gatewayDir(): string {
    return join(this.#dir, "gateway");
  }

  agent(id: string): Program {
    return there(this.#agents.get(id)).program;
  }

  /** The folder below which the agent reads /proc and /sys. */
  rootOf(id: string): string {
    return there(this.#agents.get(id)).root;
  }

  /** The folder of its file tools and its shell, empty at first. */
  workspaceOf(id: string): string {
    return there(this.#agents.get(id)).workspace;
  }

  async start(): Promise<void> {
    const { mosquitto } = this.#options;
    this.#dir = mkdtempSync(join(tmpdir(), "edgecall-e2e-"));
    this.#scripted = await startScriptedModel();
    this.#broker = mosquitto ? await startMosquitto(mosquitto) : await startAedes();
    this.#port = await freePort();
    this.#gateway = new GatewayClient(`http://127.0.0.1:${this.#port}`);
    await Promise.all([this.startWorker(), this.startBridge()]);
  }

  /** Starts the same Worker: with its port and, unless `forget` is set, its rows. */
  async startWorker({ forget = false } = {}): Promise<void> {
    const dir = this.gatewayDir;
    if (forget) rmSync(dir, { recursive: true, force: true });
    const env = {
      ...testVars,
      ...this.#modelEnvironment(),
      ...this.#options.vars,
      PORT: String(this.#port),
      EDGECALL_DIR: dir,
    };
    this.#worker = this.#run(
      new Program({ name: "worker", script: this.#options.workerScript ?? "local/worker.ts", env }),
    );
    await this.#worker.ready;
  }

  /**
   * Resolves when it is connected to both sides.
   * @param id its name at the gateway and at the broker
   * @param script a bundle that replaces today's bridge
   */
  async startBridge(id = "e2e", script = this.#options.bridgeScript ?? "bridge/main.ts"): Promise<void> {
    const env = {
      BRIDGE_ID: id,
      GATEWAY_URL: this.gateway.url,
      BRIDGE_TOKEN: TOKENS.bridge,
      MQTT_URL: this.mqttUrl,
      HEALTH_PORT: "0",
      ...this.#options.bridge,
    };
    this.#bridge = this.#run(new Program({ name: "bridge", script, env }));
    await this.#bridge.ready;
  }

  /** Starts an agent on its own Pi Zero (`rootOf`). Resolves when it has advertised itself. */
  async startAgent(options: AgentOptions): Promise<Program> {
    const { id, capabilities, model = false, board = PI_ZERO_2W } = options;
    const root = tree(board);
    const folder = join(this.#dir, id);
    const workspace = join(folder, "workspace");
    mkdirSync(workspace, { recursive: true });
    const config = join(folder, "agent.toml");
    const top = { agent_id: id, root, ...(capabilities && { capabilities }), ...options.top };
    // Without the skills of this user.
    const tools = { workspace, skills_path: join(folder, "skills"), ...options.top?.tools };
    writeFileSync(
      config,
      toToml({ ...top, tools, mqtt: { url: this.mqttUrl }, metrics: { port: options.metricsPort ?? 0 } }),
    );
    if (!options.unsigned)
      await enrol({
        url: this.gateway.url,
        token: TOKENS.owner,
        agentId: id,
        stateDir: stateDirOf(top) ?? join(folder, `${id}.state`),
      });
    const programs = options.programs && programFolder(options.programs);
    const env = {
      ...(model && this.#modelEnvironment()),
      ...(programs && { PATH: `${programs}:${process.env.PATH}` }),
      ...options.env,
    };
    const restart = async () => {
      const args = ["--config", config];
      const program = this.#run(
        new Program({ name: id, script: options.script ?? "pi-agent/main.ts", args, env }),
      );
      this.#agents.set(id, { program, root, workspace, programs, restart });
      await program.ready;
      return program;
    };
    return await restart();
  }

  /** Restarts an agent that has ended, with the same settings and the same state on disk. */
  restartAgent(id: string): Promise<Program> {
    return there(this.#agents.get(id)).restart();
  }

  /** aedes comes back with an empty memory, Mosquitto with what it stored on disk. */
  restartBroker(): Promise<void> {
    return there(this.#broker).restart();
  }

  /** The broker stays away until `restartBroker`. */
  stopBroker(): Promise<void> {
    return there(this.#broker).stop();
  }

  /** Returns the programs' output, to show it for a failed test. */
  log(): string {
    return this.#programs
      .flatMap(({ name, lines }) => lines.slice(-40).map((line) => `[${name}] ${line}`))
      .join("\n");
  }

  async stop(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop()));
    await Promise.all([this.#broker?.stop(), this.#scripted?.close()]);
    const folders = [...this.#agents.values()].flatMap(({ root, programs }) => [root, programs ?? []].flat());
    for (const folder of [...folders, this.#dir])
      if (folder) rmSync(folder, { recursive: true, force: true });
  }

  #run(program: Program): Program {
    this.#programs.push(program);
    return program;
  }

  #modelEnvironment(): Record<string, string> {
    return { LLM_BASE_URL: this.model.url, LLM_MODEL: "scripted" };
  }
}

/** A stack for the tests of a file. It ends after them, and its log is shown when one of them failed. */
export function useStack(options: StackOptions = {}, prepare?: (stack: Stack) => Promise<unknown>): Stack {
  const stack = new Stack(options);
  beforeAll(async () => {
    await stack.start();
    await prepare?.(stack);
  });
  afterEach(({ task }) => {
    if (task.result?.state === "fail") console.error(`${task.name}\n${stack.log()}`);
  });
  afterAll(() => stack.stop());
  return stack;
}

async function startAedes(): Promise<Broker> {
  let broker = await startBroker();
  const port = Number(new URL(broker.url).port);
  return {
    url: broker.url,
    stop: () => broker.stop(),
    async restart() {
      await broker.stop();
      broker = await startBroker({ port });
    },
  };
}

async function startMosquitto(path: string): Promise<Broker> {
  const broker = await PlayedMosquitto.start(path);
  return {
    url: broker.url,
    stop: () => broker.stop(),
    async restart() {
      await broker.stop();
      await broker.begin();
    },
  };
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the stack does not have this: was it started?");
  return value;
}
