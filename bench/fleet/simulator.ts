/**
 * One process that plays many paired agents: a child of the bench, which sends it its settings as the first argument and
 * then one step after another. All agents share one connection to the broker. Each has a key of its own and signs what
 * it publishes, and sends its heartbeats. None takes calls: a real agent beside them does.
 */
import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { HEARTBEAT_EVERY_MS, type TopicKind, topicOf } from "@edgecall/core/protocol/names.ts";
import { signedBytes, stamped, withSignature } from "@edgecall/core/protocol/signing.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import type { MqttClient } from "mqtt";
import { reportText } from "../../pi-agent/link/reports.ts";
import { connectBroker } from "../floor/broker-client.ts";
import { spread } from "../spread.ts";
import { agentName, areaOf } from "./names.ts";
import type { SimulatorSettings, SimulatorWord, Step } from "./protocol.ts";

/** Messages that wait for the broker's acknowledgement at a time. */
const UNACKED_MAX = 200;
const PAIRED_AT_ONCE = 4;
/** Heartbeats are spread over their interval in so many portions. */
const HEARTBEAT_PORTIONS = 300;

type Played = {
  id: string;
  area: string;
  key: KeyPair;
  bootId: string;
  isUp: boolean;
  /** Its adverts as it published them first. */
  adverts?: { capabilities: string; tools: string };
};

const settings = JSON.parse(process.argv[2] ?? "{}") as SimulatorSettings;
const agents: Played[] = Array.from({ length: settings.count }, (_, n) => ({
  id: agentName(n),
  area: areaOf(n),
  key: KeyPair.make(),
  bootId: randomUUID(),
  isUp: false,
}));
/** The counter of the last message: one for all agents is also rising for each. */
let counter = Date.now();

const broker: MqttClient = await connectBroker(settings.mqttUrl, () => {});
const STEPS: Record<Step, () => Promise<void>> = { pair, birth, drop };
process.on("message", (step: Step) => {
  STEPS[step]().then(
    () => say({ done: step }),
    (error: unknown) => say({ failed: String(error) }),
  );
});
// The bench is gone.
process.on("disconnect", () => process.exit());
let portion = 0;
setInterval(() => {
  for (let n = portion; n < agents.length; n += HEARTBEAT_PORTIONS) {
    const agent = agents[n];
    if (agent?.isUp) void publish(agent, "reports", heartbeat(agent), false).catch(() => {});
  }
  portion = (portion + 1) % HEARTBEAT_PORTIONS;
}, HEARTBEAT_EVERY_MS / HEARTBEAT_PORTIONS);
say({ done: "start" });

function say(word: SimulatorWord): void {
  process.send?.(word);
}

async function pair(): Promise<void> {
  const sockets = new Agent({ keepAlive: true, maxSockets: PAIRED_AT_ONCE });
  await spread(PAIRED_AT_ONCE, agents, (agent) => enrol(agent, sockets));
  sockets.destroy();
}

function enrol({ id, key }: Played, agent: Agent): Promise<void> {
  const body = JSON.stringify({ public_key: key.publicKey });
  return new Promise((resolve, reject) => {
    const sent = request(
      `${settings.gatewayUrl}/v1/agents/${id}/key`,
      { agent, method: "POST", headers: { authorization: `Bearer ${settings.token}` } },
      (response) => {
        response.resume();
        response.once("end", () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`${id}: ${response.statusCode}`)),
        );
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });
}

/** As a pi-agent does on each connection: presence, adverts, heartbeat. */
async function birth(): Promise<void> {
  await spread(UNACKED_MAX, agents, async (agent) => {
    agent.isUp = true;
    await publish(agent, "presence", presence("online", "birth"), true);
    agent.adverts ??= {
      capabilities: signed(agent, "capabilities", ownText(settings.adverts.capabilities, agent)),
      tools: signed(agent, "tools", settings.adverts.tools),
    };
    await send(agent, "capabilities", agent.adverts.capabilities, true);
    await send(agent, "tools", agent.adverts.tools, true);
    await publish(agent, "reports", heartbeat(agent), false);
  });
}

/** As the broker does for clients that it lost. */
async function drop(): Promise<void> {
  await spread(UNACKED_MAX, agents, async (agent) => {
    agent.isUp = false;
    await publish(agent, "presence", presence("offline", "last will"), true);
  });
}

function presence(state: "online" | "offline", reason: string): string {
  return JSON.stringify({ state, reason });
}

function heartbeat({ id }: Played): string {
  return reportText({ agentId: id, agentType: "monitor" }, "heartbeat", { uptime_sec: 60 });
}

/** Returns the advert with the agent's own id and place in it. */
function ownText(capabilities: string, { id, area }: Played): string {
  const advert = JSON.parse(capabilities) as { capabilities: string };
  return JSON.stringify({ ...advert, agent_id: id, capabilities: `${area}: ${advert.capabilities}` });
}

type Published = Exclude<TopicKind, "commands">;

function signed({ id, key, bootId }: Played, kind: Published, text: string): string {
  counter += 1;
  const body = stamped(text, { boot_id: bootId, n: counter });
  return withSignature(body, key.sign(signedBytes({ agent: id, kind }, body)));
}

async function send({ id }: Played, kind: Published, text: string, retain: boolean): Promise<void> {
  await broker.publishAsync(topicOf("evoclaw", id, kind), text, { qos: 1, retain });
}

async function publish(agent: Played, kind: Published, text: string, retain: boolean): Promise<void> {
  await send(agent, kind, signed(agent, kind, text), retain);
}
