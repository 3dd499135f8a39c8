/** The bridge of home a. It reports one offline device, and counts the commands for it. */
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { BRIDGE_PROTOCOL, VERSION } from "@edgecall/core/protocol/names.ts";
import { WebSocket } from "ws";
import { until } from "../wait.ts";
import { bearer } from "./request.ts";
import { TOKENS } from "./world.ts";

const ID = "pi";
const CPU = {
  name: "cpu",
  description: "CPU load",
  parameters: { type: "object", properties: {} },
  timeout_ms: 10_000,
  effect: "read",
  idempotent: true,
};
const AGENT: AgentState = {
  id: ID,
  online: false,
  last_seen: Date.now(),
  foreign: false,
  capabilities: JSON.stringify({
    agent_id: ID,
    capabilities: "pi edge agent",
    agent_type: "monitor",
    version: VERSION,
    features: ["tool", "prompt", "cancel", "ack"],
  }),
  tools: JSON.stringify({ hash: "h", tools: [CPU] }),
};

export class PlayedBridge {
  readonly #socket: WebSocket;
  readonly #received: HomeFrame[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => this.#received.push(JSON.parse(String(data)) as HomeFrame));
    socket.on("error", () => {});
  }

  /** Resolves when the gateway knows the device and an administrator has accepted its description. */
  static async connect(url: string): Promise<PlayedBridge> {
    const socket = new WebSocket(`${url.replace("http", "ws")}/bridge`, { headers: bearer(TOKENS.bridge) });
    const bridge = new PlayedBridge(socket);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    socket.send(
      JSON.stringify({ t: "hello", protocol: BRIDGE_PROTOCOL, bridge: "played", version: VERSION }),
    );
    await until(() => bridge.#received.some(({ t }) => t === "welcome"), { what: "welcome" });
    socket.send(JSON.stringify({ t: "snapshot", agents: [AGENT], last: true }));
    const at = `${url}/v1/agents/${ID}`;
    const headers = bearer(TOKENS.owner);
    await until(async () => (await fetch(at, { headers })).ok, { what: "the device is known" });
    await fetch(`${at}/accept-text`, { method: "POST", headers });
    return bridge;
  }

  /** The number of commands for the device so far. */
  get calls(): number {
    return this.#received.filter(({ t }) => t === "call" || t === "publish").length;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.once("close", resolve));
    this.#socket.close(1000);
    await closed;
  }
}
