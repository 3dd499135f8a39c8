/**
 * Messages of zigbee2mqtt beyond the configs: its list tells how a device is powered and which of its values can be asked for, and
 * its log says that a device did not answer (zigbee2mqtt 2.14, `bridge/devices` and `bridge/logging`).
 */

import type { Step } from "../model/entity/entity.ts";
import { harmless } from "../model/names.ts";
import type { Failure } from "../model/source.ts";
import type { Component } from "./config/components.ts";
import { isObject, pythonText } from "./config/fields.ts";
import type { Message } from "./states/message.ts";

/** Instances of zigbee2mqtt on one broker. */
const BASES_MAX = 4;
const DEVICES_MAX = 1_000;
const WORDS_MAX = 200;
const READ_ACCESS = 4;
/** A large house takes its time. */
const REPEATED_FROM_MS = 28_000;
const REPEATED_TO_MS = 45_000;
const STARTS_MAX = 50;

export type ZigbeeDevice = {
  base: string;
  name: string;
  isMains: boolean;
  isBattery: boolean;
  /** Values that can be asked for. */
  readable: ReadonlySet<string>;
};

export class Zigbee2Mqtt {
  readonly #bases = new Set<string>();
  /** By base and address. */
  readonly #devices = new Map<string, Map<string, ZigbeeDevice>>();
  /** By base. */
  readonly #names = new Map<string, ReadonlySet<string>>();
  /** By base and name. */
  readonly #failures = new Map<string, Failure>();
  #starts: number[] = [];

  /** Learns of an instance from a config. */
  learn({ config, origin }: Component): void {
    if (origin === undefined || !/zigbee2mqtt/i.test(origin)) return;
    const entries = Array.isArray(config.availability) ? config.availability : [];
    for (const entry of entries) {
      const topic = isObject(entry) ? pythonText(entry.topic) : undefined;
      const [, base] = /^([^+#$]{1,100})\/bridge\/state$/.exec(topic ?? "") ?? [];
      if (base !== undefined && this.#bases.size < BASES_MAX) this.#bases.add(base);
    }
  }

  topics(): string[] {
    return [...this.#bases].flatMap((base) => [`${base}/bridge/devices`, `${base}/bridge/logging`]);
  }

  /** @returns "devices" when what is known of devices changed; undefined: the topic is none of these */
  read(topic: string, message: Message): "devices" | "log" | undefined {
    for (const base of this.#bases) {
      if (topic === `${base}/bridge/devices`) {
        this.#readDevices(base, message);
        return "devices";
      }
      if (topic === `${base}/bridge/logging`) {
        this.#readLog(base, message);
        return "log";
      }
    }
    return undefined;
  }

  /** Home Assistant, or somebody in its name, said that it has started. */
  started(now: number): void {
    this.#starts = [...this.#starts.filter((start) => now - start <= REPEATED_TO_MS), now].slice(-STARTS_MAX);
  }

  /** The clock was set by so many ms. */
  clockSet(by: number): void {
    this.#starts = this.#starts.map((start) => start + by);
  }

  /** 30 s after each start, zigbee2mqtt repeats the states that it remembers. They are not fresh. */
  isRepeating(topic: string, now: number): boolean {
    const isTime = this.#starts.some(
      (start) => now - start >= REPEATED_FROM_MS && now - start <= REPEATED_TO_MS,
    );
    return isTime && [...this.#bases].some((base) => topic.startsWith(`${base}/`));
  }

  /** @param identities of the device */
  deviceOf(identities: readonly string[]): ZigbeeDevice | undefined {
    for (const identity of identities) {
      const [, address] = /^id zigbee2mqtt_(0x[0-9a-f]{16})$/.exec(identity) ?? [];
      if (address === undefined) continue;
      for (const devices of this.#devices.values()) {
        const device = devices.get(address);
        if (device) return device;
      }
    }
    return undefined;
  }

  /** The topic by the device's name, where it names its address, and without the part of the device (`NAME/1/set`). */
  alias(topic: string): string {
    for (const [base, devices] of this.#devices) {
      if (!topic.startsWith(`${base}/`)) continue;
      const address = topic.slice(base.length + 1, base.length + 19);
      const named = devices.get(address)?.name;
      const rest = named === undefined ? topic.slice(base.length + 1) : named + topic.slice(base.length + 19);
      return `${base}/${this.#withoutEndpoint(base, rest)}`;
    }
    return topic;
  }

  /** @param rest of the topic, below the base. A device's name may have slashes, too. */
  #withoutEndpoint(base: string, rest: string): string {
    const parts = rest.split("/");
    const at = parts.indexOf("set");
    const name = parts.slice(0, at - 1).join("/");
    const whole = parts.slice(0, at).join("/");
    const names = this.#names.get(base);
    if (at < 2 || !names?.has(name) || names.has(whole)) return rest;
    return [name, ...parts.slice(at)].join("/");
  }

  /** Asks for the values among these properties that the device can be asked for. One on a battery sleeps. */
  asks(device: ZigbeeDevice, properties: readonly string[]): Step[] {
    const asked = properties.filter((property) => device.readable.has(property));
    if (device.isBattery || asked.length === 0) return [];
    const payload = JSON.stringify(Object.fromEntries(asked.map((property) => [property, ""])));
    return [{ topic: `${device.base}/${device.name}/get`, payload }];
  }

  failure(device: ZigbeeDevice): Failure | undefined {
    return this.#failures.get(`${device.base}/${device.name}`);
  }

  #readDevices(base: string, message: Message): void {
    const list = message.json();
    if (!Array.isArray(list)) return;
    const devices = new Map<string, ZigbeeDevice>();
    for (const entry of list.slice(0, DEVICES_MAX).filter(isObject)) {
      const [address, name] = [pythonText(entry.ieee_address), pythonText(entry.friendly_name)];
      if (address === undefined || name === undefined || name.length > 100) continue;
      const power = pythonText(entry.power_source) ?? "";
      devices.set(address, {
        base,
        name,
        isMains: /mains|dc source/i.test(power),
        isBattery: /battery/i.test(power),
        readable: new Set(isObject(entry.definition) ? readableIn(entry.definition.exposes, 0) : []),
      });
    }
    this.#devices.set(base, devices);
    this.#names.set(base, new Set([...devices.values()].map(({ name }) => name)));
  }

  /** A line of its log that names a device and a command that failed. */
  #readLog(base: string, message: Message): void {
    const { level, message: words } = message.object() ?? {};
    if (level !== "error" || typeof words !== "string" || message.retained) return;
    const [, name, reason] =
      /'(?:set|get)' .{1,80}? to '(.{1,100}?)' failed: (.*)$/s.exec(words.slice(0, 2_000)) ?? [];
    if (name === undefined || reason === undefined) return;
    // The end says what happened; before it stands what was sent.
    const [, inner] = /failed \((.{1,150})\)'?$/s.exec(reason) ?? [];
    const text = `Zigbee2MQTT: "${harmless(inner ?? reason, WORDS_MAX)}"`;
    if (this.#failures.size >= DEVICES_MAX) this.#failures.clear();
    this.#failures.set(`${base}/${name}`, { message: message.number, text });
  }
}

/** Properties of a device's values that can be read from it, those of a group of values included. */
function readableIn(exposes: unknown, depth: number): string[] {
  if (!Array.isArray(exposes) || depth > 2) return [];
  return exposes.filter(isObject).flatMap((expose) => {
    const property = pythonText(expose.property);
    const isReadable = typeof expose.access === "number" && (expose.access & READ_ACCESS) !== 0;
    // A colour is asked for as a whole.
    if (property !== undefined) return isReadable ? [property] : [];
    return readableIn(expose.features, depth + 1);
  });
}
