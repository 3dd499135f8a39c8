/** What a large Home Assistant costs: its first subscription, the bridge's memory, and questions in words about its devices. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { textTokens } from "@edgecall/core/loop/tokens.ts";
import { cpuMs } from "../../test/cpu-ms.ts";
import { HomeAssistant } from "../../test/e2e/home-assistant.ts";
import { TOKENS, testVars } from "../../test/tokens.ts";
import { until } from "../../test/wait.ts";
import { type Endpoint, type ModelCall, startEndpoint } from "../endpoint.ts";
import { fillHistory } from "../history/fill.ts";
import { rss } from "../memory.ts";
import { startMosquitto } from "../mosquitto.ts";
import { AS_IMAGE } from "../node-starts.ts";
import type { Processes } from "../processes.ts";
import { startBenchBridge, startBenchWorker } from "../started.ts";
import { median } from "../stats.ts";

/** @property few entities of each device: see `addLab` @property kept the bridge has values of 300 other devices of 400 days, and of today */
type House = { devices: number; few: boolean; kept?: boolean };
export type HomeAssistantPlan = { homes: readonly House[]; idleMs: number; rounds: number };

type QuestionFigures = { text: string; tokens: number; ms: number };
export type HomeAssistantFigures = {
  devices: number;
  entities: number;
  kept: boolean;
  /** Of the first event of `subscribe_entities`. */
  subscription: { bytes: number; ms: number };
  /** Of all registries that are read before it. */
  registryBytes: number;
  /** From the bridge's start until the home has all devices. */
  knownMs: number;
  bridgeRss: number;
  /** Share of one processor while 50 sensors report each second. */
  bridgeCpu: number;
  questions: QuestionFigures[];
};

const REGISTRIES = [
  "config/entity_registry/list",
  "config/device_registry/list",
  "config/area_registry/list",
];

/** Of each the calls that a model makes: it searches, and then reads or changes what it found. @property batches in turn on and off */
const QUESTIONS: readonly { text: string; batches: (on: boolean) => ModelCall[][] }[] = [
  {
    text: "Switch the light of kitchen plug 0",
    batches: (on) => [[find({ text: "light of kitchen plug 0" })], [set("kitchen-plug-0", on)]],
  },
  {
    text: "Which lights are on in the bedroom?",
    batches: () => [
      [find({ text: "lights", area: "bedroom", kind: "light", reading: "light on", limit: 20 })],
    ],
  },
  {
    text: "How warm is it at office plug 5?",
    batches: () => [[find({ text: "temperature office plug 5" })], [read("office-plug-5", ["Temperature"])]],
  },
  {
    text: "Is there motion in the hall?",
    batches: () => [[find({ text: "motion", area: "hall", reading: "motion", limit: 20 })]],
  },
  {
    text: "Switch two lights of the garden",
    batches: (on) => [
      [find({ text: "lights", area: "garden", kind: "light" })],
      [7, 27].map((n) => set(`garden-plug-${n}`, on)),
    ],
  },
];

/** @param say hears what is being done */
export async function measureHomeAssistant(
  dir: string,
  processes: Processes,
  { homes, idleMs, rounds }: HomeAssistantPlan,
  say: (line: string) => void,
): Promise<HomeAssistantFigures[]> {
  const figures: HomeAssistantFigures[] = [];
  for (const house of homes) {
    say(`a Home Assistant with ${house.devices} devices`);
    figures.push(await measureOne(dir, processes, house, idleMs, rounds));
  }
  return figures;
}

async function measureOne(
  dir: string,
  processes: Processes,
  { devices, few, kept = false }: House,
  idleMs: number,
  rounds: number,
): Promise<HomeAssistantFigures> {
  const home = await HomeAssistant.start([]);
  const endpoint = await startEndpoint();
  const name = `home-assistant-${devices}${kept ? "-kept" : ""}`;
  const bridge = `${name}-bridge`;
  try {
    await home.addLab(devices, few);
    await home.exposeAll();
    const registries = await Promise.all(REGISTRIES.map((type) => home.command({ type })));
    const subscription = await firstSubscription(home);
    const vars = { ...testVars, LLM_BASE_URL: endpoint.url, LLM_MODEL: "bench" };
    const { worker } = await startBenchWorker(dir, name, { vars });
    const mqttUrl = await startMosquitto(dir, processes, `${name}-broker`);
    const state = join(dir, `${name}-state`);
    mkdirSync(state);
    if (kept) await fillHistory(join(state, "history"), Date.now());
    const env = { HA_URL: home.url, HA_TOKEN: await home.addUser("bench"), BRIDGE_STATE: state };
    const since = performance.now();
    const { pid } = await startBenchBridge(dir, processes, {
      gatewayUrl: worker.url,
      mqttUrl,
      name: bridge,
      env,
      start: AS_IMAGE,
    });
    const known = async () => (await devicesOf(worker.url)).length >= devices;
    await until(known, { within: 120_000, every: 100, what: "the home has all devices" });
    const knownMs = performance.now() - since;
    await allowAsked(worker.url);
    await sleep(idleMs);
    const before = cpuMs(pid);
    await sleep(idleMs);
    const bridgeCpu = (cpuMs(pid) - before) / idleMs;
    const questions: QuestionFigures[] = [];
    for (const { text, batches } of QUESTIONS) {
      const asked: { tokens: number; ms: number }[] = [];
      for (let round = 0; round < rounds; round += 1)
        asked.push(
          await ask(
            worker.url,
            endpoint,
            `${name}-${questions.length}-${round}`,
            text,
            batches(round % 2 === 0),
          ),
        );
      const of = (key: "tokens" | "ms") => median(asked.map((one) => one[key]));
      questions.push({ text, tokens: of("tokens"), ms: of("ms") });
    }
    const bridgeRss = rss(pid);
    await worker.stop();
    const registryBytes = registries.reduce((sum: number, one) => sum + JSON.stringify(one).length, 0);
    const entities = (await home.registered()).length;
    return { devices, entities, kept, subscription, registryBytes, knownMs, bridgeRss, bridgeCpu, questions };
  } finally {
    await processes.end(bridge);
    await endpoint.close();
    await home.stop();
  }
}

/** As the bridge subscribes: one frame with all states. */
async function firstSubscription(home: HomeAssistant): Promise<{ bytes: number; ms: number }> {
  const socket = new WebSocket(home.socketUrl);
  try {
    return await new Promise((resolve, reject) => {
      let since = 0;
      socket.onerror = () => reject(new Error("Home Assistant closed the WebSocket"));
      socket.onmessage = ({ data }) => {
        const text = String(data);
        const { type } = JSON.parse(text) as { type: string };
        if (type === "auth_required") socket.send(JSON.stringify({ type: "auth", access_token: home.token }));
        if (type === "auth_ok") {
          since = performance.now();
          socket.send(JSON.stringify({ id: 1, type: "subscribe_entities" }));
        }
        if (type === "event") resolve({ bytes: Buffer.byteLength(text), ms: performance.now() - since });
      };
    });
  } finally {
    socket.close();
  }
}

type Device = { id: string; online: boolean; allow: string };

async function request<Answer>(url: string, init: RequestInit = {}): Promise<Answer> {
  const headers = { authorization: `Bearer ${TOKENS.owner}`, "content-type": "application/json" };
  const response = await fetch(url, { ...init, headers });
  const body = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${body.slice(0, 500)}`);
  return JSON.parse(body) as Answer;
}

async function devicesOf(url: string): Promise<Device[]> {
  const { devices } = await request<{ devices: Device[] }>(`${url}/v1/devices`);
  return devices.filter(({ online }) => online);
}

/** A person allows what the questions change. */
async function allowAsked(url: string): Promise<void> {
  const calls = QUESTIONS.flatMap(({ batches }) => batches(true).flat());
  const asked = new Set(calls.map(({ arguments: { agent_id } }) => agent_id));
  for (const { id, allow } of await devicesOf(url))
    if (asked.has(id))
      await request(`${url}/v1/devices/${id}`, {
        method: "PATCH",
        body: JSON.stringify({ mode: "allowed", allow }),
      });
}

/** @returns tokens of all requests to the model of one turn, as the gateway estimates them */
async function ask(
  url: string,
  endpoint: Endpoint,
  conversation: string,
  words: string,
  batches: ModelCall[][],
): Promise<{ tokens: number; ms: number }> {
  const { text, times } = endpoint.script(batches);
  const began = performance.now();
  const { status } = await request<{ status: string }>(`${url}/v1/conversations/${conversation}/messages`, {
    method: "POST",
    body: JSON.stringify({ text: `${words} (${text})` }),
  });
  const ms = performance.now() - began;
  if (status !== "done") throw new Error(`"${words}" ended as ${status}`);
  return { tokens: times.requests.reduce((sum, request) => sum + textTokens(request), 0), ms };
}

function find(args: Record<string, unknown>): ModelCall {
  return { name: "find_agents", arguments: args };
}

function set(agent_id: string, on: boolean): ModelCall {
  return { name: "edge_call", arguments: { agent_id, action: "set", params: { on } } };
}

function read(agent_id: string, names: string[]): ModelCall {
  return { name: "edge_call", arguments: { agent_id, action: "read", params: { names } } };
}
