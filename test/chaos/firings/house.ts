/** The home of a season: Mosquitto, Worker, bridge, an agent, chat platforms, and devices whose values the run changes. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectAsync, type MqttClient } from "mqtt";
import { stringify as toToml } from "smol-toml";
import { enrol } from "../../../local/enrol.ts";
import { freePort } from "../../../local/port.ts";
import { put } from "../../../pi-agent/testing/skill-folder.ts";
import { plainEnvironment, programFile } from "../../e2e/program.ts";
import { onGeneric } from "../../platforms/on-generic.ts";
import { onTelegram } from "../../platforms/on-telegram.ts";
import { OWNER } from "../../platforms/person.ts";
import { sha256, TOKENS, testVars } from "../../tokens.ts";
import { type Broker, makeBroker } from "../broker.ts";
import { Link } from "../link.ts";
import { Program } from "../program.ts";

/** A person may have 20 rules, and a season has more. */
export const OWNERS = [TOKENS.owner, "test-second-owner-of-home-a", "test-third-owner-of-home-a"] as const;
export const AGENT = "cellar";
/** The agent's action that reads all dials. */
export const READING = "dials";
/** A value below each limit. */
const LOW = 10;

type ChatName = "telegram" | "generic";
/** A message that the platform took. `at`: performance.now(). */
export type SentText = { text: string; at: number };

export type House = {
  gatewayUrl: string;
  worker: Program;
  bridge: Program;
  agent: Program;
  broker: Broker;
  links: Record<"gateway" | "bridge-broker" | "agent-broker" | ChatName, Link>;
  people: {
    telegram: Awaited<ReturnType<typeof onTelegram>>;
    generic: Awaited<ReturnType<typeof onGeneric>>;
  };
  devices: Devices;
  /** The changes that the bridge or the agent has on its disk, as JSON. */
  onDisk(at: "bridge" | "agent"): string;
  /** Rules that the bridge or the agent has. */
  placed(at: "bridge" | "agent"): string[];
  start(): Promise<void>;
  stop(): Promise<void>;
};

/** @param dir its state and logs @param modelUrl plays the scripts that the questions hold */
export async function makeHouse(options: {
  dir: string;
  modelUrl: string;
  random: () => number;
  onDied: (name: string, how: string) => void;
}): Promise<House> {
  const { dir, modelUrl, random } = options;
  for (const folder of ["agent/state", "agent/workspace", "bridge"])
    mkdirSync(join(dir, folder), { recursive: true });
  const [gatewayPort, brokerPort] = await Promise.all([freePort(), freePort()]);
  const gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
  const post = (path: string, init: RequestInit) => fetch(`${gatewayUrl}${path}`, init);
  const people = { telegram: await onTelegram(post), generic: await onGeneric(post) };
  const portOf = (url: string) => Number(new URL(url).port);
  const open = (to: number, mqtt = false) => Link.open({ to, mqtt, random });
  const links = {
    gateway: await open(gatewayPort),
    "bridge-broker": await open(brokerPort, true),
    "agent-broker": await open(brokerPort, true),
    telegram: await open(portOf(people.telegram.server.url)),
    generic: await open(portOf(people.generic.server.url)),
  };
  const died = (name: string) => (how: string) => options.onDied(name, how);
  const program = (name: string, command: string[], env: Record<string, string>) =>
    new Program({
      name,
      command,
      env: { ...plainEnvironment(), ...env },
      log: join(dir, `${name}.log`),
      ready: "says so",
      onDied: died(name),
    });
  const channels = [
    { ...people.telegram.settings, base_url: `http://127.0.0.1:${links.telegram.port}` },
    { ...people.generic.settings, callback_url: `http://127.0.0.1:${links.generic.port}/told` },
  ];
  const broker = makeBroker({ dir, port: brokerPort, onDied: died("broker") });
  const worker = program("worker", [programFile("local/worker.ts")], {
    ...testVars,
    API_TOKENS: JSON.stringify(OWNERS.map(ownerRecord)),
    CHANNELS: JSON.stringify(channels),
    GATEWAY_TOOLS: "rules",
    LLM_BASE_URL: modelUrl,
    PORT: String(gatewayPort),
    EDGECALL_DIR: join(dir, "gateway"),
  });
  const bridge = program("bridge", [programFile("bridge/main.ts")], {
    BRIDGE_ID: "firings",
    GATEWAY_URL: `http://127.0.0.1:${links.gateway.port}`,
    BRIDGE_TOKEN: TOKENS.bridge,
    MQTT_URL: `mqtt://127.0.0.1:${links["bridge-broker"].port}`,
    BRIDGE_STATE: join(dir, "bridge"),
    HEALTH_PORT: "0",
  });
  const state = join(dir, "agent/state");
  const dials = join(dir, "agent/dials.json");
  const config = join(dir, "agent/agent.toml");
  put(join(dir, "agent/skills"), {
    "dials/skill.toml": `[[tools]]\nname = "${READING}"\ndescription = "Reads all dials"\npermissions = []\n`,
    [`dials/bin/dt-${READING}`]: `#!/bin/sh\nexec cat '${dials}'\n`,
  });
  writeFileSync(
    config,
    toToml({
      agent_id: AGENT,
      state_dir: state,
      mqtt: { url: `mqtt://127.0.0.1:${links["agent-broker"].port}` },
      tools: {
        workspace: join(dir, "agent/workspace"),
        skills_path: join(dir, "agent/skills"),
        sandboxing: "none",
      },
    }),
  );
  const agent = program(AGENT, [programFile("pi-agent/main.ts"), "--config", config], {});
  const devices = new Devices(`mqtt://127.0.0.1:${brokerPort}`, dials);
  const files = { bridge: join(dir, "bridge/device-rules.json"), agent: join(state, "rules.json") };
  const contentOf = (at: "bridge" | "agent") => {
    const text = existsSync(files[at]) ? readFileSync(files[at], "utf8") : "";
    return (text === "" ? { rules: [], changes: [] } : JSON.parse(text)) as {
      rules: Array<{ condition: { id: string } }>;
      changes: unknown[];
    };
  };
  const programs = [worker, bridge, agent, broker.program];
  return {
    gatewayUrl,
    worker,
    bridge,
    agent,
    broker,
    links,
    people,
    devices,
    onDisk: (at) => JSON.stringify(contentOf(at).changes),
    placed: (at) => contentOf(at).rules.map(({ condition }) => condition.id),
    async start() {
      await Promise.all([broker.program.start(), worker.start()]);
      await enrol({ url: gatewayUrl, token: TOKENS.owner, agentId: AGENT, stateDir: state });
      await devices.connect();
      await Promise.all([bridge.start(), agent.start()]);
    },
    async stop() {
      await devices.stop();
      await Promise.all(programs.map((one) => one.kill("the end of the season")));
      await Promise.all(Object.values(links).map((link) => link.close()));
      await Promise.all(Object.values(people).map(({ server }) => server.close()));
    },
  };
}

function ownerRecord(token: string, n: number) {
  const scopes = ["ask", "command", "approve", "admin"];
  return { hash: sha256(token), name: `owner-${n}`, home: "a", role: "owner", scopes };
}

/** The messages that a chat shows to its person. */
export function shownIn({ people }: House, chat: ChatName): string[] {
  if (chat === "telegram") return people.telegram.fake.chat(Number(OWNER)).map(({ text }) => text);
  return people.generic.fake.answers.map(({ text }) => String(text ?? ""));
}

/** The messages that a platform took, in their order, with those that it recognised as repeated. */
export function takenBy({ people }: House, chat: ChatName): SentText[] {
  return people[chat].server.calls
    .filter(({ path, status }) => status < 300 && /\/(sendMessage|told)$/.test(path))
    .map(({ body, at }) => ({
      at,
      text: String((JSON.parse(body.toString("utf8")) as { text?: unknown }).text ?? ""),
    }));
}

/** The dials of the run. A hosted one says its value over the broker, again after each of its connections; the agent reads the others. */
class Devices {
  readonly #url: string;
  readonly #file: string;
  /** Retained messages by topic. */
  readonly #said = new Map<string, string>();
  readonly #dials: Record<string, number> = {};
  #client: MqttClient | undefined;

  constructor(url: string, file: string) {
    this.#url = url;
    this.#file = file;
    this.#write();
  }

  async connect(): Promise<void> {
    this.#client = await connectAsync(this.#url, {
      protocolVersion: 4,
      reconnectPeriod: 50,
      clientId: "dials",
    });
    this.#client.on("error", () => {});
    this.#client.on("connect", () => {
      for (const [topic, text] of this.#said) this.#publish(topic, text);
    });
  }

  /** A hosted device with one temperature, which says whether it is there. */
  addHosted(name: string): void {
    this.#say(`dials/${name}/up`, "online");
    this.#say(
      `homeassistant/sensor/${name}/config`,
      JSON.stringify({
        name: "Temperature",
        unique_id: `dial-${name}`,
        state_topic: `dials/${name}/value`,
        availability_topic: `dials/${name}/up`,
        device_class: "temperature",
        unit_of_measurement: "°C",
        device: { identifiers: [`dial-${name}`], name: `Dial ${name}` },
      }),
    );
    this.turnHosted(name, LOW);
  }

  turnHosted(name: string, value = LOW): void {
    this.#say(`dials/${name}/value`, String(value));
  }

  hostedIs(name: string, is: "online" | "offline"): void {
    this.#say(`dials/${name}/up`, is);
  }

  turnAgents(name: string, value = LOW): void {
    this.#dials[name] = value;
    this.#write();
  }

  async stop(): Promise<void> {
    await this.#client?.endAsync(true);
  }

  #say(topic: string, text: string): void {
    this.#said.set(topic, text);
    this.#publish(topic, text);
  }

  #publish(topic: string, text: string): void {
    this.#client?.publish(topic, text, { qos: 1, retain: true }, () => {});
  }

  /** A reader sees the file of before or of now. */
  #write(): void {
    writeFileSync(`${this.#file}.new`, JSON.stringify(this.#dials));
    renameSync(`${this.#file}.new`, this.#file);
  }
}
