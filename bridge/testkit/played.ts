/** A bridge in this process, between a real broker and a WebSocket server that plays Home; new for each test. */
import { randomUUID } from "node:crypto";
import type { LogFields } from "@edgecall/node/log.ts";
import { afterEach, beforeEach } from "vitest";
import { until } from "../../test/wait.ts";
import { type Bridge, startBridge } from "../bridge.ts";
import { type BridgeSettings, readSettings } from "../settings.ts";
import { PlayedAgent } from "./agent.ts";
import { type PlayedBroker, startAedes } from "./brokers.ts";
import { PlayedHome } from "./home.ts";

type Logged = { event: string; fields: LogFields | undefined };

/** Call it once, at the top of a test file. @param startBroker for each test */
export function usePlayed(startBroker: () => Promise<PlayedBroker> = startAedes): Played {
  const played = new Played(startBroker);
  beforeEach(() => played.begin());
  afterEach(() => played.end());
  return played;
}

export class Played {
  readonly #startBroker: () => Promise<PlayedBroker>;
  #home: PlayedHome | undefined;
  #broker: PlayedBroker | undefined;
  #gateway = "";
  #logged: Logged[] = [];
  #cleanup: (() => unknown)[] = [];

  constructor(startBroker: () => Promise<PlayedBroker>) {
    this.#startBroker = startBroker;
  }

  async begin(): Promise<void> {
    this.#cleanup = [];
    this.#logged = [];
    const home = new PlayedHome();
    this.#home = home;
    [this.#broker, this.#gateway] = await Promise.all([this.#startBroker(), home.start()]);
  }

  async end(): Promise<void> {
    for (const end of this.#cleanup.reverse()) await end();
    await this.home.stop();
    await this.broker.stop();
  }

  get home(): PlayedHome {
    if (!this.#home) throw new Error("no test has begun");
    return this.#home;
  }

  get broker(): PlayedBroker {
    if (!this.#broker) throw new Error("no test has begun");
    return this.#broker;
  }

  /** The lines of its log. */
  get logged(): readonly Logged[] {
    return this.#logged;
  }

  /** The minimal environment of a bridge. */
  environment(): Record<string, string> {
    return { GATEWAY_URL: this.#gateway, BRIDGE_TOKEN: "secret", MQTT_URL: this.broker.url };
  }

  /** Runs this at the end of the test. */
  after(end: () => unknown): void {
    this.#cleanup.push(end);
  }

  start(over: Partial<BridgeSettings> = {}): Bridge {
    const read = readSettings({ ...this.environment(), HEALTH_PORT: "0" });
    if (!read.ok) throw new Error(read.errors.join("; "));
    const logged = this.#logged;
    const bridge = startBridge({ ...read.settings, ...over }, (_, event, fields) =>
      logged.push({ event, fields }),
    );
    this.after(() => bridge.stop());
    return bridge;
  }

  /** Starts a bridge, and waits until it is connected to both sides. */
  async started(): Promise<Bridge> {
    const bridge = this.start();
    await this.home.next("snapshot", (frame) => frame.last);
    await until(() => bridge.ready());
    return bridge;
  }

  async agent(id: string, kind: "own" | "foreign" = "own"): Promise<PlayedAgent> {
    const played = await PlayedAgent[kind](id, this.broker.url);
    this.after(() => played.stop());
    return played;
  }

  /** Sends a call of an agent's action as Home. @returns the call's id */
  call(to: string, id: string = randomUUID(), expires_in_ms = 5_000): string {
    const payload = JSON.stringify({ command: "tool", payload: { tool: "uptime" }, request_id: id });
    this.home.send({ t: "call", id, agent: to, payload, expires_in_ms });
    return id;
  }

  /** Returns the first line of its log with this event. */
  log(event: string): Logged | undefined {
    return this.#logged.find((line) => line.event === event);
  }
}
