/**
 * A bridge program with the short times of tests, between Mosquitto and a played home that signs rules that act; new for each test.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  AllowedAutomation,
  AutomationNews,
  AutomationOrder,
  AutomationOrdered,
  AutomationRun,
  AutomationStatus,
} from "@edgecall/core/protocol/automation.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import { beforeAll, beforeEach } from "vitest";
import { bundleBridge } from "../../local/bundles.ts";
import { NODE_ENVIRONMENT, NODE_FLAGS } from "../../pi-agent/config/node-options.ts";
import { until } from "../../test/wait.ts";
import {
  allowedRule,
  type Condition,
  type Device,
  readingOf,
  type Step,
  signedRule,
  stepOf,
} from "./allowed-rule.ts";
import { findMosquitto, PlayedMosquitto } from "./brokers.ts";
import { type PlayedDevices, usePlayedDevices } from "./devices.ts";

/** Programs start slowly on a busy machine. */
export const WITHIN_MS = 60_000;
/** Of a test. */
export const TEST_MS = 180_000;

/** Call it once, at the top of a test file. The tests need the tag `needs/mosquitto`. */
export function useActing(): Acting {
  const hosted = usePlayedDevices(() => PlayedMosquitto.start(findMosquitto() ?? ""));
  const acting = new Acting(hosted);
  beforeAll(() => acting.bundle());
  beforeEach(() => acting.begin());
  return acting;
}

export class Acting {
  readonly hosted: PlayedDevices;
  gateway = KeyPair.make();
  #program = "";
  #rules = 0;
  #child: ChildProcess | undefined;

  constructor(hosted: PlayedDevices) {
    this.hosted = hosted;
  }

  async bundle(): Promise<void> {
    this.#program = join(mkdtempSync(join(tmpdir(), "bridge-")), "bridge.mjs");
    writeFileSync(this.#program, await bundleBridge({ testClock: true }));
  }

  begin(): void {
    const { home } = this.hosted.played;
    this.#rules = 0;
    this.gateway = KeyPair.make();
    Object.assign(home, { rules: true, conditions: true, gatewayKey: this.gateway.publicKey });
  }

  get file(): string {
    return join(this.hosted.folder, "automations.json");
  }

  content(): Record<string, unknown> {
    return existsSync(this.file)
      ? (JSON.parse(readFileSync(this.file, "utf8")) as Record<string, unknown>)
      : {};
  }

  /** Resolves when it is connected. @param more of its environment */
  async run(more: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
    const { hosted } = this;
    const own = { HEALTH_PORT: "0", BRIDGE_STATE: hosted.folder, ...more };
    const env = { PATH: process.env.PATH, ...NODE_ENVIRONMENT, ...hosted.played.environment(), ...own };
    const child = spawn(process.execPath, [...NODE_FLAGS, this.#program], {
      env,
      stdio: ["ignore", "ignore", process.env.SHOW_BRIDGE ? "inherit" : "ignore", "ipc"],
    });
    hosted.played.after(() => child.kill("SIGKILL"));
    this.#child = child;
    await once(child, "message");
    return child;
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  /** A thermometer, with its first value. */
  async dial(celsius: number): Promise<void> {
    await this.hosted.publisher.config("sensor/dial", {
      name: "Temperature",
      unique_id: "dial-t",
      state_topic: "dial/value",
      device_class: "temperature",
      unit_of_measurement: "°C",
      device: { identifiers: ["dial"], name: "Dial" },
    });
    await this.turn(celsius);
  }

  async turn(celsius: number): Promise<void> {
    await this.hosted.publisher.say("dial/value", String(celsius), true);
  }

  async device(id: string): Promise<Device> {
    const { hosted } = await this.hosted.agentIn(id);
    return { id, key: hosted?.key ?? "", allow: hosted?.allow ?? "" };
  }

  /** The thermometer is above this many °C. */
  above(device: Device, value: number, more: Partial<Condition["condition"]> = {}): Condition {
    return this.reading(device, { value, ...more });
  }

  /** A condition; without more it is about the thermometer. */
  reading(device: Device, more: Partial<Condition["condition"]>): Condition {
    return readingOf(device, more);
  }

  step(device: Device, parameters?: Step["parameters"], more?: Partial<Step>): Step {
    return stepOf(device, parameters, more);
  }

  rule(more: Parameters<typeof allowedRule>[1]): AllowedAutomation {
    this.#rules += 1;
    return allowedRule(this.#rules, more);
  }

  signed(rule: object, pair = this.gateway): string {
    return signedRule(pair, rule);
  }

  place(...rules: AllowedAutomation[]): void {
    const set = rules.map((rule) => this.signed(rule));
    this.hosted.played.home.send({ t: "automations", set, drop: [] });
  }

  async order(order: AutomationOrder): Promise<AutomationOrdered> {
    const { home } = this.hosted.played;
    const id = crypto.randomUUID();
    home.send({ t: "order", id, order });
    const { ordered } = await home.next("ordered", (frame) => frame.id === id);
    return ordered;
  }

  async status(rule: string): Promise<AutomationStatus | undefined> {
    const ordered = await this.order({ do: "status", rules: [rule], language: "en" });
    return "status" in ordered ? ordered.status[0] : undefined;
  }

  /** Waits until it is in this state. */
  async isIn(rule: string, state: AutomationStatus["state"]): Promise<AutomationStatus> {
    const what = `${rule} is ${state}`;
    let last: AutomationStatus | undefined;
    await until(
      async () => {
        last = await this.status(rule);
        return last?.state === state;
      },
      { within: WITHIN_MS, every: 50, what },
    );
    return last as AutomationStatus;
  }

  /** All that was told, the newest of each number. */
  news(): AutomationNews[] {
    const all = this.hosted.played.home.of("news").flatMap(({ news }) => news);
    return [...new Map(all.map((one) => [one.n, one])).values()];
  }

  /** Waits for news of a run that fits. */
  async told(rule: string, fits: (run: AutomationRun) => boolean = () => true): Promise<AutomationNews> {
    return await until(
      () => this.news().find((one) => one.rule === rule && one.run !== undefined && fits(one.run)),
      { within: WITHIN_MS, what: `news of ${rule} that fit ${fits}` },
    );
  }

  /** Waits until the last run of a rule fits, told or not. */
  async ran(rule: string, fits: (run: AutomationRun) => boolean): Promise<AutomationRun> {
    let last: AutomationRun | undefined;
    await until(
      async () => {
        last = (await this.status(rule))?.runs.at(-1);
        return last !== undefined && fits(last);
      },
      { within: WITHIN_MS, every: 50, what: `a run of ${rule} that fits ${fits}` },
    );
    return last as AutomationRun;
  }
}
