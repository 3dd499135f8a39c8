/**
 * Devices that describe themselves on a broker by Home Assistant's MQTT discovery, or by Tasmota's. It reads messages, and writes
 * those that carry commands out; the connection is the caller's.
 */
import { utf8 } from "@edgecall/core/encoding.ts";
import type { SavedState, Snapshot } from "../model/device.ts";
import type { Publish, Step } from "../model/entity/entity.ts";
import type { Part, Sending, Source, SourceEvents } from "../model/source.ts";
import {
  CONFIG_MAX_BYTES,
  CONFIGS_MAX,
  CONFIGS_MAX_BYTES,
  DEVICE_LIST_MAX_BYTES,
  Ignored,
  LARGE_STATE_MAX_BYTES,
  PICTURE_MAX_BYTES,
  STATE_MAX_BYTES,
  STATES_MAX_BYTES,
} from "./bounds.ts";
import { type ConfigMessage, readConfigMessage } from "./config/components.ts";
import { configTopics, parseConfigTopic } from "./config/config-topic.ts";
import { textField } from "./config/fields.ts";
import { parseTasmotaTopic, readTasmota, TASMOTA_TOPICS, TasmotaMessages } from "./config/tasmota.ts";
import { LiveEntity } from "./entity/live-entity.ts";
import { entityOf } from "./kinds/all.ts";
import { isBase64Picture, PICTURE_SLOT, pictureOf } from "./kinds/pictures.ts";
import { propertiesOf } from "./properties.ts";
import { partOfState } from "./states/large-state.ts";
import { Message } from "./states/message.ts";
import { WorkRate } from "./template/budget.ts";
import { couldMatch, isFilter, TopicFilters } from "./topics/topic-filter.ts";
import { type Prefixes, refusedCommandTopic } from "./topics/topics.ts";
import { Zigbee2Mqtt } from "./zigbee2mqtt.ts";

type StoredConfig = {
  payload: string;
  bytes: number;
  parts: LiveEntity[];
  /** Since when another topic is expected to take over (epoch ms). */
  migratingSince?: number;
};

type StoredState = { message: Message; bytes: number };

/** So long a config that moves is kept without a successor. */
const MIGRATION_MS = 60_000;

/** An entity that reads a message takes a step for so many characters of it, beside those of its template. */
const CHARACTERS_A_STEP = 1_024;

/** A long state is parsed before any template reads it. */
const LARGE_CHARACTERS_A_STEP = 64;

/** Messages that waited are read for so many steps at once, and then those that come have their turn. */
const CATCH_UP_STEPS = 50_000;

const PAYLOAD_MAX_BYTES = 4_096;
/** A device on a battery sleeps. */
const MAINS_MS = 5_000;
const BATTERY_MS = 15_000;

export class MqttSource implements Source {
  readonly name = "mqtt";
  readonly #prefixes: Prefixes;
  readonly #events: SourceEvents;
  readonly #configs = new Map<string, StoredConfig>();
  /** Topics whose configs say that they move. */
  readonly #migrating = new Set<string>();
  /** By their topics, of which some are filters. */
  readonly #listeners = new Map<string, Set<LiveEntity>>();
  readonly #filters = new TopicFilters();
  /** A filter's last message stands under the filter. */
  readonly #states = new Map<string, StoredState>();
  readonly #ignored = new Ignored();
  readonly #tasmota = new TasmotaMessages();
  readonly #zigbee = new Zigbee2Mqtt();
  readonly #work = new WorkRate();
  /** Topics whose last message is not read yet. */
  readonly #waiting = new Set<string>();
  /** By topic: states that were not read, or in part; then without these members. */
  readonly #unread = new Map<string, { why: string; members?: readonly string[] }>();
  #configBytes = 0;
  #stateBytes = 0;
  #entities = 0;
  #topics: ReadonlyMap<string, 0 | 1 | 2> | undefined;

  constructor(prefixes: Prefixes, events: SourceEvents) {
    this.#prefixes = prefixes;
    this.#events = events;
  }

  /** The wildcard topics of the configs, for QoS 0. */
  configTopics(): string[] {
    return [...configTopics(this.#prefixes.prefix), ...TASMOTA_TOPICS];
  }

  /**
   * Reads a config message below the prefix, retained or not; an empty payload removes.
   * @returns whether anything may have changed that is told of a device
   */
  config(topic: string, payload: string, now: number): boolean {
    const tasmota = parseTasmotaTopic(topic);
    if (tasmota) {
      // Both of its messages are one config.
      const whole = this.#tasmota.add(tasmota, payload);
      if (whole === undefined) return this.#refuse(topic, "the message of a Tasmota device is too long");
      const read = () => readTasmota(tasmota.mac, whole);
      return this.#config(`tasmota/discovery/${tasmota.mac}/config`, whole, now, read);
    }
    const parsed = parseConfigTopic(this.#prefixes.prefix, topic);
    return parsed !== undefined
      ? this.#config(topic, payload, now, () => readConfigMessage(parsed, topic, payload))
      : false;
  }

  #config(topic: string, payload: string, now: number, read: () => ConfigMessage): boolean {
    const stored = this.#configs.get(topic);
    if (stored?.payload === payload) return false;
    this.#ignored.remove(topic);
    const bytes = payload.length > CONFIG_MAX_BYTES ? payload.length : utf8(payload).length;
    if (bytes > CONFIG_MAX_BYTES)
      return this.#refuse(topic, `the config has more than ${CONFIG_MAX_BYTES / 1_024} KB`);
    if (this.#configBytes - (stored?.bytes ?? 0) + bytes > CONFIGS_MAX_BYTES)
      return this.#refuse(
        topic,
        `the configs have more than ${CONFIGS_MAX_BYTES / 1_024 / 1_024} MB together`,
      );
    const message: ConfigMessage = payload === "" ? { type: "removed" } : read();
    if (message.type === "refused") return this.#refuse(topic, message.why);
    if (message.type === "removed") return this.#remove(topic);
    if (message.type === "migrating") {
      if (!stored) return false;
      this.#configs.set(topic, { ...stored, payload, migratingSince: now });
      this.#migrating.add(topic);
      this.#changed();
      return false;
    }
    const { components } = message;
    if (this.#entities - (stored?.parts.length ?? 0) + components.length > CONFIGS_MAX)
      return this.#refuse(topic, `there are more than ${CONFIGS_MAX} configs`);
    const parts = components.flatMap((component) => {
      const entity = entityOf(component, this.#prefixes);
      return entity ? [new LiveEntity(entity, component, this)] : [];
    });
    if (parts.length < components.length) this.#ignored.add(topic, "the kind of the config is not known");
    if (parts.length === 0) return this.#remove(topic);
    for (const part of parts) {
      const former = stored?.parts.find(
        ({ entity }) => entity.unique === part.entity.unique && entity.kind === part.entity.kind,
      );
      if (former && hasSameUnits(former, part)) part.adopt(former);
      else if (former) part.ignoreUntil(this.#events.last());
    }
    for (const part of stored?.parts ?? []) this.#unlisten(part);
    for (const part of parts) this.#listen(part, now);
    this.#dropStates(stored?.parts ?? []);
    this.#entities += parts.length - (stored?.parts.length ?? 0);
    this.#configBytes += bytes - (stored?.bytes ?? 0);
    this.#configs.set(topic, { payload, bytes, parts });
    for (const component of components) this.#zigbee.learn(component);
    this.#changed();
    return true;
  }

  /** Topics of states and availability to subscribe to, with their QoS. */
  topics(): ReadonlyMap<string, 0 | 1 | 2> {
    if (this.#topics) return this.#topics;
    const topics = new Map<string, 0 | 1 | 2>();
    for (const topic of [`${this.#prefixes.prefix}/status`, ...this.#zigbee.topics()]) topics.set(topic, 0);
    for (const [topic, parts] of this.#listeners) {
      const qos = [...parts].map(({ entity }) => entity.qos);
      topics.set(topic, Math.max(topics.get(topic) ?? 0, ...qos) as 0 | 1 | 2);
    }
    this.#topics = topics;
    return topics;
  }

  /** Reads a message on one of `topics()`, or on one that a filter among them matches. */
  state(topic: string, payload: string | Uint8Array, when: { now: number; retained: boolean }): void {
    const names = [topic, ...this.#filters.matching(topic)];
    // Many filters may match one topic.
    const isMany = names.length > 2 && payload.length <= LARGE_STATE_MAX_BYTES;
    const text = isMany && typeof payload !== "string" ? new TextDecoder().decode(payload) : undefined;
    for (const name of names) this.#state(name, payload, { ...when, text });
    this.#work.spend(names.length);
  }

  /** @param topic as entities name it @param text of the payload, where it is known already */
  #state(
    topic: string,
    payload: string | Uint8Array,
    { now, retained, text }: { now: number; retained: boolean; text: string | undefined },
  ): void {
    const number = this.#events.next();
    const listeners = this.#listeners.get(topic);
    const isList = this.#zigbee.topics().includes(topic);
    // A topic below a wildcard that no part reads: not even its name is remembered.
    if (!listeners && !isList && topic !== `${this.#prefixes.prefix}/status`) return;
    const isPicture = [...(listeners ?? [])].some(({ entity }) =>
      entity.slots.some((slot) => slot.topic === topic && slot.name === PICTURE_SLOT),
    );
    const max = isPicture ? PICTURE_MAX_BYTES : isList ? DEVICE_LIST_MAX_BYTES : LARGE_STATE_MAX_BYTES;
    // An encoding takes at most three bytes for each unit.
    const size =
      typeof payload === "string" && payload.length * 3 > max ? utf8(payload).length : payload.length;
    if (size > max) {
      this.#leaveState(topic, `a state has more than ${max / 1_024} KB`);
      return;
    }
    this.#ignored.remove(topic);
    this.#unread.delete(topic);
    const whole =
      typeof payload === "string" || isPicture ? payload : (text ?? new TextDecoder().decode(payload));
    const content = isList || typeof whole !== "string" ? whole : this.#partOf(topic, whole, size, now);
    if (content === undefined) return;
    const former = this.#states.get(topic)?.message;
    const isSame = former !== undefined && !isPicture && former.text === content;
    const isRepeated = !retained && this.#zigbee.isRepeating(topic, now);
    // Neither what the broker kept, nor what zigbee2mqtt repeats from memory, is news.
    if (isSame && (retained || isRepeated)) {
      for (const part of listeners ?? []) part.repeated(topic, former.number, number);
      return;
    }
    // A state that changed while this did not listen may be as old as that.
    const isRetained = retained || (isRepeated && former?.retained !== false);
    const message = new Message(content, { number, now, at: isRetained ? null : now, retained: isRetained });
    if (topic === `${this.#prefixes.prefix}/status` && content === "online" && !retained)
      this.#zigbee.started(now);
    if (this.#zigbee.read(topic, message) === "devices") this.#events.changed();
    if (!listeners) return;
    if (isList && size > STATE_MAX_BYTES) {
      this.#leaveState(topic, `a state has more than ${STATE_MAX_BYTES / 1_024} KB`);
      return;
    }
    this.#keepState(topic, message, Math.min(size, max === LARGE_STATE_MAX_BYTES ? STATE_MAX_BYTES : max));
    if (this.#work.isLeft(now)) this.#read(topic, message, listeners, now);
    // The last message of a topic waits; those before it are never read.
    else if (this.#states.get(topic)?.message === message) this.#waiting.add(topic);
    else this.#ignored.add(topic, "the templates of all devices take too long");
  }

  clockSet(by: number): Part[] {
    for (const { message } of this.#states.values()) message.clockSet(by);
    this.#zigbee.clockSet(by);
    const moved: Part[] = [];
    for (const stored of this.#configs.values()) {
      if (stored.migratingSince !== undefined) stored.migratingSince += by;
      for (const part of stored.parts) if (part.clockSet(by)) moved.push(part);
    }
    return moved;
  }

  /** Reads the messages that wait for their turn. Call it every second. @returns their topics */
  catchUp(now: number): string[] {
    const read: string[] = [];
    if (!this.#work.isLeft(now)) return read;
    const least = this.#work.spend(0) - CATCH_UP_STEPS;
    for (const topic of this.#waiting) {
      if (!this.#work.isLeft(now) || this.#work.spend(0) < least) break;
      this.#waiting.delete(topic);
      const message = this.#states.get(topic)?.message;
      if (message) this.#read(topic, message, this.#listeners.get(topic) ?? new Set(), now);
      read.push(topic);
    }
    return read;
  }

  /** @returns the state, or what can be kept of one that is too long; undefined: nothing */
  #partOf(topic: string, text: string, size: number, now: number): string | undefined {
    if (size <= STATE_MAX_BYTES) return text;
    if (!this.#work.isLeft(now)) {
      this.#leaveState(topic, "the templates of all devices take too long");
      return undefined;
    }
    this.#work.spend(size / LARGE_CHARACTERS_A_STEP + (this.#listeners.get(topic)?.size ?? 0));
    const named = new Set(propertiesOf([...(this.#listeners.get(topic) ?? [])]));
    // Three bytes for each unit at most.
    const max = size === text.length ? STATE_MAX_BYTES : STATE_MAX_BYTES / 3;
    const part = partOfState(text, named, max);
    if (!part) {
      this.#leaveState(topic, `a state has more than ${STATE_MAX_BYTES / 1_024} KB`);
      return undefined;
    }
    const why = `its state has ${Math.ceil(size / 1_024)} KB, of which this is left out`;
    if (part.dropped.length > 0 && this.#unread.size < CONFIGS_MAX)
      this.#unread.set(topic, { why, members: part.dropped });
    return part.text;
  }

  #leaveState(topic: string, why: string): void {
    this.#ignored.add(topic, why);
    if (this.#unread.size < CONFIGS_MAX) this.#unread.set(topic, { why });
  }

  unread(parts: readonly Part[]): { what: string; why: string }[] {
    if (this.#unread.size === 0) return [];
    return this.#own(parts).flatMap((part) => {
      const found = part.topics.map((topic) => this.#unread.get(topic)).find((one) => one !== undefined);
      if (!found) return [];
      const { why, members } = found;
      const named = propertiesOf([part]);
      const lacks = !members || named.length === 0 || named.some((name) => members.includes(name));
      return lacks ? [{ what: part.entity.title, why }] : [];
    });
  }

  /** The parts that a message on this topic may be about. */
  partsOn(topic: string): LiveEntity[] {
    const named = [topic, ...this.#filters.matching(topic)];
    return named.flatMap((one) => [...(this.#listeners.get(one) ?? [])]);
  }

  picture(part: Part): Snapshot | undefined {
    const [own] = this.#own([part]);
    const slot = own?.entity.slots.find(({ name }) => name === PICTURE_SLOT);
    const message = slot && this.#states.get(slot.topic)?.message;
    const picture = own && message && pictureOf(message, isBase64Picture(own.entity.config));
    return picture && { ...picture, at: message.at };
  }

  sending(part: Part, commanded: readonly Step[]): Sending | { error: string } {
    const steps = commanded.filter(isPublish);
    const long = steps.find(({ payload }) => utf8(payload).length > PAYLOAD_MAX_BYTES);
    if (long) return { error: `would have more than ${PAYLOAD_MAX_BYTES} bytes` };
    const zigbee = this.#zigbee.deviceOf(part.device.identities);
    const own = this.#own([part]);
    const [{ entity } = { entity: undefined }] = own;
    return {
      steps: steps.map((step) => ({ ...step, qos: entity?.qos ?? 0, retain: part.entity.retain })),
      // A topic that takes the command too brings each command, ours as well.
      isEchoed: (name) => {
        const slot = entity?.slots.find((one) => one.name === name);
        return slot !== undefined && steps.some(({ topic }) => couldMatch(topic, slot.topic));
      },
      answersWithinMs: zigbee?.isMains ? MAINS_MS : BATTERY_MS,
      asks: zigbee ? this.#allowed(this.#zigbee.asks(zigbee, propertiesOf(own))) : [],
      failure: () => zigbee && this.#zigbee.failure(zigbee),
    };
  }

  /** Tasmota has such, and zigbee2mqtt for devices with mains power. */
  asks(parts: readonly Part[], offered: readonly Part[]): Step[] {
    const zigbee = this.#zigbee.deviceOf(parts.flatMap(({ device }) => device.identities));
    if (zigbee) return this.#allowed(this.#zigbee.asks(zigbee, propertiesOf(this.#own(offered))));
    return this.#allowed(this.#own(parts).find(({ component }) => component.asks)?.component.asks ?? []);
  }

  /** zigbee2mqtt takes a device's address in place of its name. */
  alias(target: string): string {
    return this.#zigbee.alias(target);
  }

  counts(): ReturnType<Source["counts"]> {
    return { configs: this.#configs.size, ignored: this.#ignored.list() };
  }

  saved(): SavedState[] {
    return [...this.#states].flatMap(([topic, { message }]) => {
      const listeners = [...(this.#listeners.get(topic) ?? [])];
      // Before the first config, what was restored is all that there is.
      const isValue = this.#configs.size === 0 || listeners.some((part) => part.hasValueTopic(topic));
      const isSecret = listeners.some((part) => part.isSecret(topic));
      return isValue && !isSecret && !message.bytes ? [{ topic, payload: message.text, at: message.at }] : [];
    });
  }

  restore(states: readonly SavedState[]): void {
    for (const { topic, payload, at } of states) {
      const size = utf8(payload).length;
      // One of another source is no topic.
      if (size > STATE_MAX_BYTES || topic.startsWith("#")) continue;
      const kept = { number: this.#events.next(), now: at ?? 0, at, retained: true };
      this.#keepState(topic, new Message(payload, kept), size);
    }
  }

  partLike({ entity }: Part): LiveEntity | undefined {
    for (const { parts } of this.#configs.values()) {
      const found = parts.find(
        (part) => part.entity.kind === entity.kind && part.entity.unique === entity.unique,
      );
      if (found) return found;
    }
    return undefined;
  }

  expire(now: number): void {
    for (const topic of this.#migrating) {
      const since = this.#configs.get(topic)?.migratingSince;
      if (since !== undefined && now - since <= MIGRATION_MS) continue;
      this.#migrating.delete(topic);
      if (since !== undefined) this.#remove(topic);
    }
  }

  /**
   * All entities, each once, in the order of their topics, since a broker sends its configs in any order: the first one that
   * describes it counts, unless it says that it moves.
   */
  parts(leave: (why: string, count: number) => void): LiveEntity[] {
    const found = new Map<string, { part: LiveEntity; isMoving: boolean }>();
    let twice = 0;
    for (const { parts, migratingSince } of this.#inOrder())
      for (const part of parts) {
        const unique = `${part.entity.kind} ${part.entity.unique}`;
        const isMoving = migratingSince !== undefined;
        const other = found.get(unique);
        if (other && !other.isMoving) {
          if (!isMoving) twice += 1;
        } else if (!other || !isMoving) found.set(unique, { part, isMoving });
      }
    leave("another config has the same unique_id", twice);
    return [...found.values()].map(({ part }) => part);
  }

  #read(topic: string, message: Message, parts: ReadonlySet<LiveEntity>, now: number): void {
    this.#waiting.delete(topic);
    for (const part of parts) part.read(topic, message);
    if (!message.retained) for (const part of parts) this.#events.heard(part, now);
    this.#done(message, parts.size);
  }

  /** So many entities have read a message. */
  #done(message: Message, entities: number): void {
    const size = (message.bytes ?? message.text).length;
    this.#work.spend(message.budget.spent + entities * (1 + size / CHARACTERS_A_STEP));
    message.dropParsed();
  }

  #refuse(topic: string, why: string): boolean {
    const changed = this.#remove(topic);
    this.#ignored.add(topic, why);
    return changed;
  }

  #remove(topic: string): boolean {
    const stored = this.#configs.get(topic);
    if (!stored) return false;
    this.#configs.delete(topic);
    this.#entities -= stored.parts.length;
    this.#configBytes -= stored.bytes;
    for (const part of stored.parts) this.#unlisten(part);
    this.#dropStates(stored.parts);
    this.#changed();
    return true;
  }

  #changed(): void {
    this.#topics = undefined;
    this.#events.changed();
  }

  /** It also reads what its topics said before it came: several entities share a topic. */
  #listen(part: LiveEntity, now: number): void {
    const known = part.topics.flatMap((topic) => {
      const listeners = this.#listeners.get(topic) ?? new Set();
      this.#listeners.set(topic, listeners.add(part));
      if (isFilter(topic)) this.#filters.add(topic);
      const message = this.#states.get(topic)?.message;
      return message ? [{ topic, message }] : [];
    });
    known.sort((a, b) => a.message.number - b.message.number);
    for (const { topic, message } of known) {
      if (this.#work.isLeft(now)) {
        part.read(topic, message);
        this.#done(message, 1);
      } else this.#waiting.add(topic);
    }
  }

  #unlisten(part: LiveEntity): void {
    for (const topic of part.topics) {
      const listeners = this.#listeners.get(topic);
      listeners?.delete(part);
      if (listeners?.size !== 0) continue;
      this.#listeners.delete(topic);
      if (isFilter(topic)) this.#filters.delete(topic);
    }
  }

  #keepState(topic: string, message: Message, bytes: number): void {
    this.#stateBytes += bytes - (this.#states.get(topic)?.bytes ?? 0);
    this.#states.delete(topic);
    if (this.#stateBytes <= STATES_MAX_BYTES) {
      this.#states.set(topic, { message, bytes });
      return;
    }
    this.#stateBytes -= bytes;
    this.#ignored.add(topic, `the states have more than ${STATES_MAX_BYTES / 1_024 / 1_024} MB together`);
  }

  /** Forgets the states of topics that no part reads any more. */
  #dropStates(parts: readonly LiveEntity[]): void {
    for (const topic of parts.flatMap((part) => part.topics)) {
      const stored = this.#states.get(topic);
      if (!this.#listeners.has(topic)) this.#unread.delete(topic);
      if (!stored || this.#listeners.has(topic)) continue;
      this.#states.delete(topic);
      this.#stateBytes -= stored.bytes;
    }
  }

  /** Parts of another source are none of its own. */
  #own(parts: readonly Part[]): LiveEntity[] {
    return parts.filter((part) => part instanceof LiveEntity);
  }

  #allowed(asks: readonly Step[]): Step[] {
    return asks
      .filter(isPublish)
      .filter(({ topic }) => refusedCommandTopic(topic, this.#prefixes) === undefined);
  }

  #inOrder(): StoredConfig[] {
    const ordered = [...this.#configs].sort(([a], [b]) => (a < b ? -1 : 1));
    return ordered.map(([, stored]) => stored);
  }
}

function isPublish(step: Step): step is Publish {
  return "topic" in step;
}

/** Keys that say what a number means. A number of before they changed is none of the new unit. */
const UNITS = ["unit_of_measurement", "temperature_unit", "color_temp_kelvin", "brightness_scale"];

function hasSameUnits({ entity: a }: LiveEntity, { entity: b }: LiveEntity): boolean {
  return UNITS.every((key) => textField(a.config, key) === textField(b.config, key));
}
