/** The home of a run with Home Assistant: Worker, bridge without a broker, a real Home Assistant, and links between them. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../local/port.ts";
import { HomeAssistant } from "../../e2e/home-assistant.ts";
import { plainEnvironment, programFile } from "../../e2e/program.ts";
import { type ScriptedModel, startScriptedModel } from "../../scripted-model.ts";
import { TOKENS, testVars } from "../../tokens.ts";
import { until } from "../../wait.ts";
import { request } from "../client.ts";
import { Link } from "../link.ts";
import { Program } from "../program.ts";

export type AssistantHouse = {
  gatewayUrl: string;
  model: ScriptedModel;
  worker: Program;
  bridge: Program;
  assistant: HomeAssistant;
  links: Record<"gateway" | "assistant", Link>;
  /** In the lab's order; each has a light that a command switches on. */
  devices: Device[];
  stop(): Promise<void>;
};

const KNOWN_WITHIN_MS = 120_000;

type Device = { id: string; online: boolean; allow: string };

/** A fault may hold it up. */
const MODE_WITHIN_MS = 60_000;

/** Starts it. @param devices so many plugs */
export async function startHouse(options: {
  dir: string;
  devices: number;
  random: () => number;
  onDied: (name: string, how: string) => void;
}): Promise<AssistantHouse> {
  const { dir, devices, random, onDied } = options;
  mkdirSync(join(dir, "bridge"), { recursive: true });
  const model = await startScriptedModel();
  const assistant = await HomeAssistant.start([]);
  await assistant.addLab(devices);
  await assistant.exposeAll();
  const token = await assistant.addUser("edgecall");
  const gatewayPort = await freePort();
  const open = (to: number) => Link.open({ to, mqtt: false, random });
  const links = {
    gateway: await open(gatewayPort),
    assistant: await open(Number(new URL(assistant.url).port)),
  };
  const program = (name: string, path: string, env: Record<string, string>) =>
    new Program({
      name,
      command: [programFile(path)],
      env: { ...plainEnvironment(), ...env },
      log: join(dir, `${name}.log`),
      ready: "says so",
      onDied: (how) => onDied(name, how),
    });
  const worker = program("worker", "local/worker.ts", {
    ...testVars,
    LLM_BASE_URL: model.url,
    LLM_MODEL: "chaos",
    PORT: String(gatewayPort),
    EDGECALL_DIR: join(dir, "gateway"),
  });
  const bridge = program("bridge", "bridge/main.ts", {
    BRIDGE_ID: "chaos",
    GATEWAY_URL: `http://127.0.0.1:${links.gateway.port}`,
    BRIDGE_TOKEN: TOKENS.bridge,
    MQTT_URL: "off",
    HA_URL: `http://127.0.0.1:${links.assistant.port}`,
    HA_TOKEN: token,
    BRIDGE_STATE: join(dir, "bridge"),
    HEALTH_PORT: "0",
  });
  const gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
  const stop = () => stopAll({ worker, bridge, assistant, links, model });
  try {
    await worker.start();
    await bridge.start();
    return {
      gatewayUrl,
      model,
      worker,
      bridge,
      assistant,
      links,
      stop,
      devices: await knownOf(gatewayUrl, devices),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function stopAll(all: Pick<AssistantHouse, "worker" | "bridge" | "assistant" | "links" | "model">) {
  await Promise.all([all.worker, all.bridge].map((one) => one.kill("the end of the run")));
  await Promise.all(Object.values(all.links).map((link) => link.close()));
  await all.assistant.stop();
  await all.model.close();
}

/** Waits for all devices. */
async function knownOf(gatewayUrl: string, count: number): Promise<Device[]> {
  const known = async () => {
    const response = await request(gatewayUrl, "/v1/devices");
    const { devices } = (await response.json()) as { devices: Device[] };
    const online = devices.filter((device) => device.online);
    return online.length >= count && online;
  };
  const devices = await until(() => known().catch(() => false as const), {
    within: KNOWN_WITHIN_MS,
    every: 500,
    what: "the home has all devices of Home Assistant",
  });
  const numberOf = ({ id }: Device) => Number(id.split("-").at(-1));
  return devices.sort((a, b) => numberOf(a) - numberOf(b));
}

/**
 * A person allows a device's changes, or wants to be asked: a home has no room for permissions of all. It is tried until the gateway
 * takes it.
 */
export async function setMode(
  { gatewayUrl }: AssistantHouse,
  { id, allow }: Device,
  mode: "allowed" | "ask",
): Promise<void> {
  const body = JSON.stringify({ mode, allow });
  const isSet = async () => {
    const response = await request(gatewayUrl, `/v1/devices/${id}`, { method: "PATCH", body });
    if (!response.ok) said = `${response.status} ${await response.text()}`;
    return response.ok;
  };
  let said = "";
  await until(() => isSet().catch(() => false), { within: MODE_WITHIN_MS, every: 250 }).catch(() => {
    throw new Error(`${id} is not set to ${mode}: ${said}`);
  });
}
