/** A home for a test: a real broker, a client that plays the gateway, and agents. */
import { mkdtempSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseTopic, type TopicKind } from "@edgecall/core/protocol/names.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { Log } from "@edgecall/node/log.ts";
import { Aedes } from "aedes";
import { connect, type MqttClient } from "mqtt";
import { until } from "../../test/wait.ts";
import { type Agent, type AgentOptions, startAgent } from "../agent.ts";
import { readSettings, type Settings } from "../config/settings.ts";
import { localFiles } from "../env/local-files.ts";
import { NO_SKILLS } from "../skills/load-skills.ts";
import { kernelTools } from "../toolbox/all.ts";
import type { ToolboxState } from "../toolbox/places.ts";
import type { SkillSource } from "../toolbox/tool-catalog.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { read } from "../tools/files/read.ts";

export type Broker = {
  port: number;
  aedes: Aedes;
  /** Breaks an agent's connection, without a DISCONNECT. */
  cut(agent: string): void;
  stop(): Promise<void>;
};

export async function startBroker(port = 0): Promise<Broker> {
  const aedes = await Aedes.createBroker();
  const sockets = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    aedes.handle(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    aedes,
    cut(agent) {
      const { clients } = aedes as unknown as { clients: Record<string, { conn: { destroy(): void } }> };
      clients[`edgecall-${agent}`]?.conn.destroy();
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => aedes.close(() => resolve()));
      await closed;
    },
  };
}

export type Message = { topic: string; kind: string; payload: Record<string, unknown>; retain: boolean };

/** A client that receives everything from the agents and sends commands. */
export class Peer {
  readonly received: Message[] = [];
  /** The same, as published. */
  readonly raw: Array<{ id: string; kind: TopicKind; text: string }> = [];
  readonly #client: MqttClient;

  private constructor(client: MqttClient) {
    this.#client = client;
    client.on("message", (topic, payload, packet) => {
      const text = payload.toString("utf8");
      const address = parseTopic("evoclaw", topic);
      if (address) this.raw.push({ id: address.agentId, kind: address.kind, text });
      const parsed = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
      this.received.push({
        topic,
        kind: topic.split("/").at(-1) ?? "",
        payload: parsed,
        retain: packet.retain,
      });
    });
  }

  static async connect(port: number): Promise<Peer> {
    const client = connect(`mqtt://127.0.0.1:${port}`, { reconnectPeriod: 50, protocolVersion: 4 });
    const peer = new Peer(client);
    client.on("error", () => {});
    client.on("connect", () => (client.stream as Socket).setNoDelay(true));
    await new Promise<void>((resolve) => client.once("connect", () => resolve()));
    const kinds = ["capabilities", "reports", "presence", "events", "tools"];
    await client.subscribeAsync(
      kinds.map((kind) => `evoclaw/agents/+/${kind}`),
      { qos: 1 },
    );
    return peer;
  }

  async send(
    id: string,
    text: string | Buffer,
    options: { retain?: boolean; kind?: string } = {},
  ): Promise<void> {
    const { retain = false, kind = "commands" } = options;
    await this.#client.publishAsync(`evoclaw/agents/${id}/${kind}`, text, { qos: 1, retain });
  }

  async broadcast(text: string): Promise<void> {
    await this.#client.publishAsync("evoclaw/broadcast", text, { qos: 1 });
  }

  async command(id: string, command: Record<string, unknown>): Promise<void> {
    await this.send(id, JSON.stringify({ payload: {}, ...command }));
  }

  reports(requestId: string): Array<Record<string, unknown> & { payload: Record<string, unknown> }> {
    return this.received
      .filter(({ kind, payload }) => kind === "reports" && requestIdOf(payload.payload) === requestId)
      .map(({ payload }) => payload as Record<string, unknown> & { payload: Record<string, unknown> });
  }

  events(requestId: string, type?: string): Message[] {
    return this.received.filter(
      ({ kind, payload }) =>
        kind === "events" &&
        payload.request_id === requestId &&
        (type === undefined || payload.type === type),
    );
  }

  /** Sends a command and waits for its report. */
  async ask(id: string, command: Record<string, unknown> & { request_id: string }) {
    const before = this.reports(command.request_id).length;
    await this.command(id, command);
    return await until(() => this.reports(command.request_id)[before], {
      what: `report of ${command.request_id}`,
    });
  }

  async stop(): Promise<void> {
    await this.#client.endAsync(true);
  }
}

function requestIdOf(payload: unknown): unknown {
  return (payload as { request_id?: unknown } | undefined)?.request_id;
}

export type LogLine = { level: string; event: string; fields: Record<string, unknown> };

export function memoryLog(): { lines: LogLine[]; log: Log } {
  const lines: LogLine[] = [];
  return { lines, log: (level, event, fields = {}) => void lines.push({ level, event, fields }) };
}

export function testSettings(port: number, more: Partial<Settings> & { folder?: string } = {}): Settings {
  const { folder = mkdtempSync(join(tmpdir(), "edgecall-agent-")), ...rest } = more;
  const source = `agent_id = "eye"\n[mqtt]\nurl = "mqtt://127.0.0.1:${port}"`;
  return { ...readSettings(source, { file: join(folder, "agent.toml") }).settings, ...rest };
}

const NO_SKILL_SOURCE: SkillSource = {
  current: NO_SKILLS,
  look: async () => NO_SKILLS,
  onChange: () => () => {},
};

/** The tools that need no other program, which most tests use, without probes at each start. */
export async function simpleToolbox(
  { root, tools: { workspace, enabled } }: Settings,
  _state: ToolboxState,
  more: readonly Tool[] = [],
): Promise<Toolbox> {
  const own = [...kernelTools({ root }), read({ files: localFiles({ cwd: workspace, root }) }), ...more];
  const tools = own.filter(({ name }) => enabled === undefined || enabled.includes(name));
  return { tools, unavailable: [], skills: NO_SKILL_SOURCE, close: async () => {} };
}

/** Starts an agent and waits until it has advertised itself. */
export async function readyAgent(settings: Settings, options: AgentOptions): Promise<Agent> {
  let isReady = false;
  const agent = await startAgent(settings, {
    toolbox: simpleToolbox,
    ...options,
    onReady: () => (isReady = true),
  });
  await until(() => isReady, { what: "the agent is ready" });
  return agent;
}
