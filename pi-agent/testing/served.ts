/** An agent `eye` with probes in addition to its own tools, and a caller. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { Agent, AgentOptions } from "../agent.ts";
import type { Settings } from "../config/settings.ts";
import { type LogLine, memoryLog, Peer, readyAgent, startBroker, testSettings } from "./home.ts";
import { type Probe, probe } from "./tools.ts";
import { PI_ZERO_2W, tree } from "./tree.ts";

type Report = Awaited<ReturnType<Peer["ask"]>>;
type Fields = Record<string, unknown>;

export type Served = {
  peer: Peer;
  port: number;
  log: Log;
  lines: LogLine[];
  /** A read that counts its runs. */
  counted: Probe;
  /** A read that never ends by itself. */
  held: Probe;
  /** Acts on the world, so it must not run twice. */
  toggle: Probe;
  nextId(): string;
  lastId(): string;
  /** Sends `eye` a command and waits for its report. */
  ask(command: string, payload?: Fields, more?: Fields): Promise<Report>;
  tool(name: string, parameters?: Fields, more?: Fields): Promise<Report>;
  /** Starts another agent with the same tools. */
  start(more: Partial<Settings> & { folder?: string }, options?: Partial<AgentOptions>): Promise<Agent>;
  /** Breaks an agent's connection. */
  cut(agent: string): void;
  stop(): Promise<void>;
};

const ALLOWED = new Map([["toggle", "allow" as const]]);

export async function serve(): Promise<Served> {
  const broker = await startBroker();
  const peer = await Peer.connect(broker.port);
  const root = tree(PI_ZERO_2W);
  const { log, lines } = memoryLog();
  const counted = probe("counted");
  const held = probe("held", { holds: true });
  const toggle = probe("toggle", { effect: "device", idempotent: false });
  const tools = [counted.tool, held.tool, toggle.tool, picture()];
  const start: Served["start"] = (more, options) =>
    readyAgent(testSettings(broker.port, { root, policy: ALLOWED, ...more }), { log, tools, ...options });
  let ids = 0;
  const lastId = () => `id-${ids}`;
  const nextId = () => `id-${++ids}`;
  const ask: Served["ask"] = (command, payload = {}, more = {}) =>
    peer.ask("eye", { command, payload, request_id: nextId(), ...more });
  const eye = await start({});
  return {
    peer,
    port: broker.port,
    log,
    lines,
    counted,
    held,
    toggle,
    nextId,
    lastId,
    ask,
    tool: (name, parameters = {}, more = {}) => ask("tool", { tool: name, parameters }, more),
    start,
    cut: broker.cut,
    async stop() {
      await eye.stop();
      await peer.stop();
      await broker.stop();
    },
  };
}

function picture(): Tool {
  return {
    ...probe("picture").tool,
    execute: async () => ({
      content: [
        { type: "text", text: "a picture" },
        { type: "image", mediaType: "image/png", data: "iVBO" },
      ],
    }),
  };
}
