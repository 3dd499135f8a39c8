/** Devices of a broker for tests: a catalog, one entity of a kind, and the configs that real publishers sent. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { type CatalogOptions, DeviceCatalog } from "../catalog.ts";
import type { HostedDevice, Mark, Plan } from "../model/device.ts";
import type { Publish } from "../model/entity/entity.ts";

export const NOW = 1_800_000_000_000;

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export function newCatalog(more: Partial<CatalogOptions> = {}): DeviceCatalog {
  return new DeviceCatalog({ prefix: "homeassistant", ownPrefix: "evoclaw", sha256, ...more });
}

type DiscoveryCase = {
  publisher: string;
  topic: string;
  payload: Record<string, unknown>;
  expect: {
    device: string;
    actions: string[];
    danger: string[];
    readings: string[];
    aside: string[];
    not_offered: string[];
  };
};

export type DiscoveryCases = {
  configs: DiscoveryCase[];
  devices: Array<
    Omit<DiscoveryCase["expect"], "device"> & {
      id: string;
      name: string;
      area?: string;
      publisher?: string;
      line: string;
    }
  >;
  states: { topic: string; payload: string; retained: boolean }[];
  zigbee_devices: { topic: string; payload: unknown[] };
  zigbee_failure: { topic: string; payload: Record<string, unknown> };
};

/** Retained configs, and states, of seven real publishers, with the devices that they make. */
export const CASES: DiscoveryCases = JSON.parse(
  readFileSync(new URL("../../test/cases/discovery.json", import.meta.url), "utf8"),
);

/** The messages of a plan for the broker. */
export function published({ steps }: Plan): Publish[] {
  return steps.filter((step): step is Publish => "topic" in step);
}

/** One device on a broker. Its time stands still until `after` moves it. */
export class OneDevice {
  readonly catalog = newCatalog();
  now = NOW;

  /** Adds an entity to the device `Thing`. */
  add(kind: string, config: Record<string, unknown>, object = kind): this {
    const whole = {
      unique_id: object,
      name: null,
      device: { identifiers: ["thing"], name: "Thing" },
      ...config,
    };
    this.catalog.mqtt.config(`homeassistant/${kind}/${object}/config`, JSON.stringify(whole), this.now);
    return this;
  }

  get device(): HostedDevice {
    const [device] = this.catalog.devices(this.now);
    if (!device) throw new Error("there is no device");
    return device;
  }

  say(topic: string, payload: unknown, retained = false): this {
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    this.catalog.mqtt.state(topic, text, { now: this.now, retained });
    return this;
  }

  after(ms: number): this {
    this.now += ms;
    return this;
  }

  /** The words of its readings by their names. */
  words(all = false): Record<string, string> {
    const readings = this.catalog.readings(this.device.id, this.now, all);
    return Object.fromEntries(readings.map(({ name, text }) => [name, text]));
  }

  schema(action: string): Record<string, unknown> {
    const found = this.device.actions.find(({ name }) => name === action);
    return (found?.parameters ?? {}) as Record<string, unknown>;
  }

  plan(action: string, parameters: Record<string, unknown> = {}): Plan {
    const plan = this.catalog.plan(this.device.id, action, parameters, this.now);
    if ("error" in plan) throw new Error(plan.error);
    return plan;
  }

  /** The reason for which an action is not carried out. */
  refusal(action: string, parameters: Record<string, unknown> = {}): string {
    const plan = this.catalog.plan(this.device.id, action, parameters, this.now);
    return "error" in plan ? plan.error : "it is carried out";
  }

  /** Topics and payloads that an action sends. */
  sent(action: string, parameters: Record<string, unknown> = {}): string[] {
    return published(this.plan(action, parameters)).map(({ topic, payload }) => `${topic} ${payload}`);
  }

  mark(): Mark {
    return this.catalog.mark(this.now);
  }

  /**
   * Carries an action out, lets these messages come one second later each, and expects that exactly the last one confirms it.
   * @returns the words of the confirmation
   */
  confirmedBy(
    action: string,
    parameters: Record<string, unknown>,
    ...messages: (readonly [topic: string, payload: unknown])[]
  ): string {
    const plan = this.plan(action, parameters);
    const mark = this.mark();
    for (const [at, [topic, payload]] of messages.entries()) {
      expect(plan.confirm?.(mark), `before message ${at + 1}`).toBeUndefined();
      this.after(1_000).say(topic, payload);
    }
    const confirmed = plan.confirm?.(mark);
    expect(confirmed, "after the last message").toBeDefined();
    return confirmed?.text ?? "";
  }

  /** The same for messages that do not confirm it. @returns the words for a command that was only sent */
  notConfirmedBy(
    action: string,
    parameters: Record<string, unknown>,
    ...messages: (readonly [topic: string, payload: unknown, retained?: boolean])[]
  ): string {
    const plan = this.plan(action, parameters);
    const mark = this.mark();
    for (const [topic, payload, retained] of messages) this.after(1_000).say(topic, payload, retained);
    expect(plan.confirm?.(mark)).toBeUndefined();
    return plan.unconfirmed(mark);
  }
}
