/** A bridge that hosts devices, between a real broker with a played publisher and a WebSocket server that plays Home; new for each test. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import { beforeEach } from "vitest";
import { NODE_ENVIRONMENT } from "../../pi-agent/config/node-options.ts";
import { until } from "../../test/wait.ts";
import type { Bridge } from "../bridge.ts";
import type { DeviceSettings } from "../settings.ts";
import type { PlayedBroker } from "./brokers.ts";
import { type Played, usePlayed } from "./played.ts";
import { PlayedPublisher } from "./publisher.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

/** Call it once, at the top of a test file. @param startBroker for each test; aedes if it is left out */
export function usePlayedDevices(startBroker?: () => Promise<PlayedBroker>): PlayedDevices {
  const devices = new PlayedDevices(usePlayed(startBroker));
  beforeEach(() => devices.begin());
  return devices;
}

export class PlayedDevices {
  readonly played: Played;
  #publisher: PlayedPublisher | undefined;
  #folder = "";

  constructor(played: Played) {
    this.played = played;
  }

  async begin(): Promise<void> {
    const { home, broker } = this.played;
    home.devices = true;
    home.texts = [];
    const publisher = await PlayedPublisher.connect(broker.url);
    this.#publisher = publisher;
    this.played.after(() => publisher.stop());
    this.#folder = mkdtempSync(join(tmpdir(), "devices-"));
  }

  get publisher(): PlayedPublisher {
    if (!this.#publisher) throw new Error("no test has begun");
    return this.#publisher;
  }

  /** The bridge's files, which outlive it. */
  get folder(): string {
    return this.#folder;
  }

  /** Starts a bridge, and waits until it is connected to both sides. */
  async started(over: Partial<DeviceSettings> = {}): Promise<Bridge> {
    const { folder, played } = this;
    const devices = {
      mode: "allow" as const,
      prefix: "homeassistant",
      birth: false,
      dangerText: [],
      signIn: "allow" as const,
      folder,
      historyDays: 400,
    };
    const bridge = played.start({ devices: { ...devices, ...over } });
    await played.home.next("snapshot", (frame) => frame.last);
    await until(() => bridge.ready());
    return bridge;
  }

  /** Starts a bridge as a program, and waits until it is connected to both sides. @param args of Node; the bridge's, if they are left out */
  async process(args: readonly string[] = [MAIN]): Promise<ChildProcess> {
    const env = {
      PATH: process.env.PATH,
      ...NODE_ENVIRONMENT,
      HEALTH_PORT: "0",
      BRIDGE_STATE: this.folder,
      ...this.played.environment(),
    };
    const child = spawn(process.execPath, [...args], { env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    this.played.after(() => child.kill("SIGKILL"));
    await once(child, "message");
    return child;
  }

  /** The last state that Home was sent of each agent. */
  told(): Map<string, AgentState> {
    const states = new Map<string, AgentState>();
    for (const frame of this.played.home.frames) {
      if (frame.t === "gone") states.delete(frame.agent);
      if (frame.t !== "snapshot" && frame.t !== "agents") continue;
      if (frame.t === "agents") for (const id of frame.gone ?? []) states.delete(id);
      for (const agent of frame.agents) {
        const before = states.get(agent.id);
        const kept = (agent.kept ?? []).map((kind) => [kind, before?.[kind]]);
        states.set(agent.id, { ...agent, ...Object.fromEntries(kept) });
      }
    }
    return states;
  }

  /** Waits until Home was told that this agent is there, or away. */
  async agentIn(id: string, online = true): Promise<AgentState> {
    const what = `${id} is ${online ? "online" : "offline"}`;
    await until(() => this.told().get(id)?.online === online, { what });
    return this.told().get(id) as AgentState;
  }

  /** The frames to Home, in words. */
  crossed(): string[] {
    return this.played.home.frames.map((frame) =>
      frame.t === "agents" ? `agents ${frame.agents.map(({ id }) => id).join(" ")}` : frame.t,
    );
  }

  /** Sends a call as Home. @param more of the frame @returns the call's id */
  call(agent: string, tool: string, parameters: object = {}, more: object = {}): string {
    const id = randomUUID();
    this.resend(id, agent, tool, parameters, more);
    return id;
  }

  resend(id: string, agent: string, tool: string, parameters: object = {}, more: object = {}): void {
    const command = { command: "tool", payload: { tool, parameters }, request_id: id, route: "r" };
    const payload = JSON.stringify(command);
    this.played.home.send({ t: "call", id, agent, payload, expires_in_ms: 20_000, ...more });
  }

  cancel(agent: string, id: string): void {
    const command = { command: "cancel", payload: { request_id: id }, request_id: randomUUID() };
    this.played.home.send({ t: "publish", agent, payload: JSON.stringify(command) });
  }

  /** Waits for a call's report. @returns its payload */
  async report(id: string): Promise<Record<string, unknown>> {
    const { payload } = await this.played.home.next("report", (frame) => frame.id === id);
    return (JSON.parse(payload) as { payload: Record<string, unknown> }).payload;
  }

  /** Waits for a call's refusal. */
  async refused(id: string): Promise<{ code: string; message: string }> {
    const { code, message } = await this.played.home.next("refused", (frame) => frame.id === id);
    return { code, message };
  }
}
