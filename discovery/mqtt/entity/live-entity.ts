/** An entity with what its topics have said. */

import type { Value } from "../../model/entity/entity.ts";
import type { DeviceInfo, Part, Source } from "../../model/source.ts";
import type { Component } from "../config/components.ts";
import { isOfEarlierRun, type Message } from "../states/message.ts";
import { Unreadable } from "../states/templates.ts";
import type { MqttEntity, Slot } from "./entity.ts";

/** An availability that all devices of a publisher share says nothing about when one of them was heard. */
const SHARED_AVAILABILITY = /\/bridge\/state$/;

export class LiveEntity implements Part {
  readonly entity: MqttEntity;
  readonly component: Component;
  readonly source: Source;
  /** Time of its last message (epoch ms). */
  lastSeen: number | null = null;
  #isHeardInThisRun = false;
  /** Values of messages up to this number say nothing. */
  #ignoredUntil = 0;
  readonly #values = new Map<string, Value>();
  /** By the slot: the last message that repeated its value. */
  readonly #repeats = new Map<string, { of: number; number: number }>();
  /** By its place among the topics; undefined: not known yet. */
  #available: Array<boolean | undefined> = [];
  #latest: boolean | undefined;

  constructor(entity: MqttEntity, component: Component, source: Source) {
    this.entity = entity;
    this.component = component;
    this.source = source;
  }

  get device(): DeviceInfo {
    return this.component.device;
  }

  get publisher(): string | undefined {
    return this.component.origin;
  }

  get description(): Component {
    return this.component;
  }

  get isEverHeard(): boolean {
    return this.topics.length > 0;
  }

  /** Topics that bring values, and those that say whether it is there. */
  get topics(): string[] {
    const { slots, availability } = this.entity;
    return [...new Set([...slots, ...availability.entries].map(({ topic }) => topic))];
  }

  hasValueTopic(topic: string): boolean {
    return this.entity.slots.some((slot) => slot.topic === topic);
  }

  /** Tells whether a message on the topic may not be written down. */
  isSecret(topic: string): boolean {
    const { slots, readings } = this.entity;
    return readings.some(
      ({ slot, secret }) => secret && slots.some((one) => one.name === slot && one.topic === topic),
    );
  }

  /** Reads a message on one of its topics. */
  read(topic: string, message: Message): void {
    const { slots, availability } = this.entity;
    let isHeard = false;
    for (const slot of slots) {
      if (slot.topic !== topic || (slot.live && message.retained)) continue;
      isHeard = true;
      if (message.number <= this.#ignoredUntil) continue;
      const value = slot.read(message);
      if (value === undefined) continue;
      const { at, now, number, retained } = message;
      const heard = { at, heard: now, message: number, retained };
      if (!(value instanceof Unreadable)) this.#values.set(slot.name, { value, ...heard });
      // A topic may bring messages of several shapes: what one has said still holds.
      else if (this.#values.get(slot.name)?.unreadable !== undefined || !this.#values.has(slot.name))
        this.#values.set(slot.name, { value: null, unreadable: value.reason, ...heard });
    }
    for (const [place, entry] of availability.entries.entries()) {
      const available = entry.topic === topic ? entry.read(message) : undefined;
      if (available === undefined) continue;
      this.#available[place] = available;
      this.#latest = available;
      if (available && !SHARED_AVAILABILITY.test(topic)) isHeard = true;
    }
    if (!isHeard || message.at === null) return;
    if (!isOfEarlierRun(message)) this.#isHeardInThisRun = true;
    this.lastSeen = Math.max(this.lastSeen ?? 0, message.at);
  }

  /** A message repeats what the broker, or its publisher, had kept. @param of the number of the message that it repeats */
  repeated(topic: string, of: number, number: number): void {
    for (const slot of this.entity.slots)
      if (slot.topic === topic) this.#repeats.set(slot.name, { of, number });
  }

  knownBy(name: string): number {
    const message = this.#values.get(name)?.message ?? 0;
    const repeat = this.#repeats.get(name);
    return repeat?.of === message ? repeat.number : message;
  }

  /** The clock was set by so many ms. @returns whether that moved `lastSeen` */
  clockSet(by: number): boolean {
    for (const [slot, value] of this.#values)
      if (!isOfEarlierRun(value))
        this.#values.set(slot, {
          ...value,
          heard: value.heard + by,
          at: value.at === null ? null : value.at + by,
        });
    if (!this.#isHeardInThisRun || this.lastSeen === null) return false;
    this.lastSeen += by;
    return true;
  }

  /** Takes over what the entity knew before its config changed, where slot and topic are the same. */
  adopt(former: LiveEntity): void {
    this.lastSeen = former.lastSeen;
    this.#isHeardInThisRun = former.#isHeardInThisRun;
    for (const slot of this.entity.slots) {
      const value = former.#values.get(slot.name);
      if (value && former.entity.slots.some(({ name, topic }) => name === slot.name && topic === slot.topic))
        this.#values.set(slot.name, value);
    }
  }

  /** Its values begin after this message, since an older one was written in another unit. */
  ignoreUntil(message: number): void {
    this.#ignoredUntil = message;
  }

  value(name: string, now: number): Value | undefined {
    const value = this.#values.get(name);
    const offDelay = this.#slot(name)?.offDelay;
    if (!value || offDelay === undefined || value.value !== true) return value;
    const over = value.heard + offDelay * 1_000;
    return now < over ? value : { ...value, value: false, at: over };
  }

  /** A value whose time is over, or that has a time and never came. */
  isExpired(name: string, now: number): boolean {
    const seconds = this.#slot(name)?.expireAfter;
    if (seconds === undefined) return false;
    const value = this.#values.get(name);
    return !value || now - (value.at ?? value.heard) > seconds * 1_000;
  }

  /** @returns why it is not there; undefined: it is */
  absence(now: number): string | undefined {
    const { availability, slots } = this.entity;
    const { entries, mode } = availability;
    if (entries.length > 0) {
      const known = entries.map((_, place) => this.#available[place]);
      const isThere =
        mode === "all"
          ? known.every((one) => one === true)
          : mode === "any"
            ? known.some((one) => one === true)
            : this.#latest === true;
      if (!isThere)
        return known.includes(false)
          ? "its publisher says that it is not available"
          : "it has not said that it is available";
    }
    const values = slots.filter(({ beside }) => !beside);
    if (values.length > 0 && values.every(({ name }) => this.isExpired(name, now)))
      return "it has not reported for longer than it should";
    return undefined;
  }

  /** It says itself that it is there, and is not only taken for it. */
  isAnnounced(now: number): boolean {
    return this.entity.availability.entries.length > 0 && this.absence(now) === undefined;
  }

  #slot(name: string): Slot | undefined {
    return this.entity.slots.find((slot) => slot.name === name);
  }
}
