/**
 * All devices that the retained configs of a broker describe, with their last states. It reads messages and says which ones
 * to publish; the connection is the caller's. Times are passed in (epoch ms).
 */
import { utf8 } from "@edgecall/core/encoding.ts";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import {
  CONFIG_MAX_BYTES,
  CONFIGS_MAX,
  CONFIGS_MAX_BYTES,
  DEVICE_LIST_MAX_BYTES,
  DEVICES_MAX,
  ENTITIES_A_DEVICE_MAX,
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
import {
  type Ask,
  type CatalogDump,
  GHOST_AFTER_MS,
  type HostedDevice,
  type Mark,
  type Plan,
  type PlanError,
  type Reading,
  type Snapshot,
  type SourcedReading,
} from "./device.ts";
import {
  configsText,
  type DeviceView,
  deviceView,
  isThere,
  type NamedReading,
  rawNameOf,
  readingLine,
  readingOf,
} from "./device-view.ts";
import type { Entity } from "./entity/entity.ts";
import { LiveEntity } from "./entity/live-entity.ts";
import { groupsOf } from "./grouping.ts";
import { IdTable } from "./id-table.ts";
import { entityOf } from "./kinds/all.ts";
import { fieldsOf } from "./kinds/attributes.ts";
import { PICTURE_SLOT, pictureOf } from "./kinds/pictures.ts";
import { planOf } from "./plan.ts";
import { bounded, commandsFirst, oldestFirst } from "./room.ts";
import { partOfState } from "./states/large-state.ts";
import { Message } from "./states/message.ts";
import { WorkRate } from "./template/budget.ts";
import { isFilter, TopicFilters } from "./topics/topic-filter.ts";
import { refusedCommandTopic } from "./topics/topics.ts";
import { dangers } from "./trust/danger.ts";
import { foldedWords } from "./trust/danger-words.ts";
import { Zigbee2Mqtt } from "./zigbee2mqtt.ts";

export type CatalogOptions = {
  /** Prefix of the configs' topics: `homeassistant`. */
  prefix: string;
  /** Prefix of our own agents' topics. No device is allowed to name a topic below it. */
  ownPrefix: string;
  /** Hex SHA-256 of a text. `core/` has no synchronous one. */
  sha256: (text: string) => string;
  /** Words in a name that make a command dangerous, in addition to those of trust/danger-words.ts. */
  dangerText?: readonly string[];
};

type StoredConfig = {
  payload: string;
  bytes: number;
  parts: LiveEntity[];
  /** Since when another topic is expected to take over (epoch ms). */
  migratingSince?: number;
};

type StoredState = { message: Message; bytes: number };

type View = {
  devices: Map<string, DeviceView>;
  /** By its parts. */
  keys: Map<LiveEntity, string>;
  /** Counts of what does not fit, by the reason. */
  left: Map<string, number>;
};

/** So long a config that moves is kept without a successor. */
const MIGRATION_MS = 60_000;

/** An entity that reads a message takes a step for so many characters of it, beside those of its template. */
const CHARACTERS_A_STEP = 1_024;

/** A long state is parsed before any template reads it. */
const LARGE_CHARACTERS_A_STEP = 64;

/** Messages that waited are read for so many steps at once, and then those that come have their turn. */
const CATCH_UP_STEPS = 50_000;

/** Devices that are long gone, of which something is remembered. */
const REMEMBERED_MAX = 1_000;

export class DeviceCatalog {
  readonly #options: CatalogOptions;
  readonly #words: ReadonlySet<string>;
  readonly #configs = new Map<string, StoredConfig>();
  /** Topics whose configs say that they move. */
  readonly #migrating = new Set<string>();
  /** By their topics, of which some are filters. */
  readonly #listeners = new Map<string, Set<LiveEntity>>();
  readonly #filters = new TopicFilters();
  /** A filter's last message stands under the filter. */
  readonly #states = new Map<string, StoredState>();
  readonly #ids: IdTable;
  readonly #seen = new Map<string, { first: number; last: number | null }>();
  /** Devices of an earlier run: since when they are known is true whatever the clock says now. */
  readonly #seenBefore = new Set<string>();
  readonly #forgotten = new Map<string, string>();
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
  #messages = 0;
  #view: View | undefined;
  #topics: ReadonlyMap<string, 0 | 1 | 2> | undefined;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.#words = foldedWords(options.dangerText ?? []);
    this.#ids = new IdTable(options.sha256);
  }

  /** The wildcard topics of the configs, for QoS 0. */
  configTopics(): string[] {
    return [...configTopics(this.#options.prefix), ...TASMOTA_TOPICS];
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
    const parsed = parseConfigTopic(this.#options.prefix, topic);
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
      const entity = entityOf(component, this.#options);
      return entity ? [new LiveEntity(entity, component)] : [];
    });
    if (parts.length < components.length) this.#ignored.add(topic, "the kind of the config is not known");
    if (parts.length === 0) return this.#remove(topic);
    for (const part of parts) {
      const former = stored?.parts.find(
        ({ entity }) => entity.unique === part.entity.unique && entity.kind === part.entity.kind,
      );
      if (former && hasSameUnits(former, part)) part.adopt(former);
      else if (former) part.ignoreUntil(this.#messages);
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
    for (const topic of [`${this.#options.prefix}/status`, ...this.#zigbee.topics()]) topics.set(topic, 0);
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
    this.#messages += 1;
    const listeners = this.#listeners.get(topic);
    const isList = this.#zigbee.topics().includes(topic);
    // A topic below a wildcard that nobody reads: not even its name is remembered.
    if (!listeners && !isList && topic !== `${this.#options.prefix}/status`) return;
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
    if (isSame && (retained || isRepeated)) return;
    // A state that changed while nobody listened may be as old as that.
    const isRetained = retained || (isRepeated && former?.retained !== false);
    const number = this.#messages;
    const message = new Message(content, { number, now, at: isRetained ? null : now, retained: isRetained });
    if (topic === `${this.#options.prefix}/status` && content === "online" && !retained)
      this.#zigbee.started(now);
    if (this.#zigbee.read(topic, message) === "devices") this.#view = undefined;
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

  /** The clock was set by so many ms: what came in this run is as old as before. */
  clockSet(by: number): void {
    for (const { message } of this.#states.values()) message.clockSet(by);
    this.#zigbee.clockSet(by);
    for (const stored of this.#configs.values())
      if (stored.migratingSince !== undefined) stored.migratingSince += by;
    for (const [key, seen] of this.#seen) if (!this.#seenBefore.has(key)) seen.first += by;
    for (const stored of this.#configs.values())
      for (const part of stored.parts) {
        const isMoved = part.clockSet(by);
        const seen = this.#seen.get(this.#view?.keys.get(part) ?? "");
        if (seen && isMoved) seen.last = part.lastSeen;
      }
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

  /** Values of a device that are not read, by their configs or by the size of their states. */
  #unreadOf({ offered, unread }: DeviceView): { what: string; why: string }[] {
    if (this.#unread.size === 0) return unread;
    const tooLong = offered.flatMap((part) => {
      const found = part.topics.map((topic) => this.#unread.get(topic)).find((one) => one !== undefined);
      if (!found) return [];
      const { why, members } = found;
      const named = propertiesOf([part]);
      const lacks = !members || named.length === 0 || named.some((name) => members.includes(name));
      return lacks ? [{ what: part.entity.title, why }] : [];
    });
    return [...tooLong, ...unread];
  }

  /** A moment before a command is published. Only messages after it confirm the command. */
  mark(now: number): Mark {
    return { message: this.#messages, at: now };
  }

  /** In the order of their ids. Ghosts are among them. */
  devices(now: number): HostedDevice[] {
    const views = [...this.#viewAt(now).devices.values()];
    return views.map((view) => this.#hosted(view, now)).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  device(id: string, now: number): HostedDevice | undefined {
    const view = this.#viewOf(id, now);
    return view && this.#hosted(view, now);
  }

  /** @param all also what is diagnostic, a setting, or disabled by default */
  readings(id: string, now: number, all = false): Reading[] {
    const view = this.#viewOf(id, now);
    const named = view?.readings.slice(0, all ? undefined : view.offeredReadings) ?? [];
    return named.flatMap((reading) => {
      if (!isThere(reading, now)) return [];
      const one = readingOf(reading, now);
      const { part, spec } = reading;
      return spec.fields ? fieldsOf(one, part.value(spec.slot, now)?.value) : [one];
    });
  }

  /** Also those that are not there at present: they may be asked for by name. */
  #everyReading(id: string, now: number): Reading[] {
    const hidden = (this.#viewOf(id, now)?.readings ?? []).filter((reading) => !isThere(reading, now));
    return [...this.readings(id, now, true), ...hidden.map((reading) => readingOf(reading, now))];
  }

  /** Keys of the devices that a message on this topic may be about. */
  keysOn(topic: string, now: number): string[] {
    const { keys } = this.#viewAt(now);
    const named = [topic, ...this.#filters.matching(topic)];
    const parts = named.flatMap((one) => [...(this.#listeners.get(one) ?? [])]);
    return [...new Set(parts.flatMap((part) => keys.get(part) ?? []))];
  }

  /** A device's reading, by the device's key, with the message that brought its value; undefined: there is none. */
  readingOf(key: string, name: string, now: number): SourcedReading | undefined {
    const named = this.#viewAt(now)
      .devices.get(key)
      ?.readings.find((one) => one.name === name);
    if (!named) return undefined;
    return sourced(named, now);
  }

  /** Its offered readings, by the device's key, in the same form; undefined: there is no such device. */
  sourcedReadings(key: string, now: number): SourcedReading[] | undefined {
    const view = this.#viewAt(now).devices.get(key);
    const there = view?.readings.slice(0, view.offeredReadings).filter((reading) => isThere(reading, now));
    return there?.map((reading) => sourced(reading, now));
  }

  /** The text of a `read` action's result, or an error that names the parameter. Both may hold a stranger's words: names are the publisher's. */
  read(
    id: string,
    parameters: Readonly<Record<string, unknown>>,
    now: number,
  ): { text: string; tainted: boolean } | { error: string; tainted?: boolean } {
    const device = this.device(id, now);
    if (!device) return { error: `there is no device ${id}` };
    const { names, all } = parameters;
    const strange = Object.keys(parameters).find((name) => name !== "names" && name !== "all");
    if (strange !== undefined)
      return { error: `${strange}: there is no such parameter; there are: names, all` };
    if (all !== undefined && typeof all !== "boolean") return { error: "all: it has to be true or false" };
    if (names !== undefined && !(Array.isArray(names) && names.every((name) => typeof name === "string")))
      return { error: "names: it has to be a list of texts" };
    const everything = this.#everyReading(id, now);
    const unknown = (names ?? []).find((name) => !everything.some((reading) => reading.name === name));
    if (unknown !== undefined)
      return {
        error: `names: there is no ${unknown}; there are: ${everything.map(({ name }) => name).join(", ")}`,
        tainted: everything.some(({ name }) => !isLabel(name)),
      };
    const readings = names
      ? everything.filter(({ name }) => names.includes(name))
      : this.readings(id, now, all === true);
    const view = this.#viewOf(id, now);
    const unread = view && !names ? this.#unreadOf(view) : [];
    const lines = [
      ...readings.map((reading) => readingLine(reading, now)),
      ...unread.map(({ what, why }) => `${what}: not read: ${why}`),
    ];
    const state = device.online ? [] : [`${device.name} is offline: ${device.reason ?? "unknown"}`];
    const text = [...state, ...(lines.length > 0 ? lines : ["It reports nothing."])].join("\n");
    return {
      text,
      tainted: readings.some(isStrange) || unread.some(({ what }) => !isLabel(what.replaceAll(": ", " "))),
    };
  }

  /** The last picture of a `snapshot` action. */
  picture(id: string, action: string, now: number): Snapshot | { error: string } {
    const view = this.#viewOf(id, now);
    const part = view?.pictures.find(({ advert }) => advert.name === action)?.part;
    if (!part) return { error: `action: ${id} has no ${action}` };
    const { entity } = part;
    const slot = entity.slots.find(({ name }) => name === PICTURE_SLOT);
    const message = slot && this.#states.get(slot.topic)?.message;
    const isBase64 = ["image_encoding", "encoding"].some((key) => textField(entity.config, key) === "b64");
    const picture = message && pictureOf(message, isBase64);
    return picture ? { ...picture, at: message.at } : { error: `${view?.name} has not sent a picture yet` };
  }

  /**
   * The messages that carry out an action, and how its confirmation is judged; or an error that names the parameter. Make it
   * right before it is carried out: it remembers the values of then.
   */
  plan(
    id: string,
    action: string,
    parameters: Readonly<Record<string, unknown>>,
    now: number,
  ): Plan | PlanError {
    const view = this.#viewOf(id, now);
    if (!view) return { error: `there is no device ${id}` };
    const found = [...view.actions, ...view.settings].find(({ advert }) => advert.name === action);
    if (!found) {
      const names = view.actions.map(({ advert }) => advert.name);
      return { error: `action: ${id} has no ${action}; it has ${["read", ...names].join(", ")}` };
    }
    const { part, command } = found;
    const zigbee = this.#zigbee.deviceOf(part.component.device.identities);
    const readings = view.readings.flatMap((one) => (one.part === part ? [one.name] : []));
    const plan = planOf(
      {
        deviceName: view.name,
        command,
        part: () => this.#present(part),
        isMains: zigbee?.isMains ?? false,
        asks: zigbee ? this.#allowed(this.#zigbee.asks(zigbee, propertiesOf([part]))) : [],
        failure: () => zigbee && this.#zigbee.failure(zigbee),
      },
      parameters,
      now,
    );
    return "error" in plan ? plan : { ...plan, readings };
  }

  /** Messages that make a device report its values, where its publisher has such (Tasmota; zigbee2mqtt, devices with mains power). */
  asks(id: string, now: number): Ask[] {
    const view = this.#viewOf(id, now);
    const identities = view?.parts.flatMap(({ component }) => component.device.identities) ?? [];
    const zigbee = this.#zigbee.deviceOf(identities);
    const own = view?.parts.find(({ component }) => component.asks)?.component.asks ?? [];
    return view ? this.#allowed(zigbee ? this.#zigbee.asks(zigbee, propertiesOf(view.offered)) : own) : [];
  }

  /** Ids of agents with a key: a device whose id is among them gets another one. @returns whether one did */
  reserve(ids: Iterable<string>): boolean {
    const changed = this.#ids.reserve(ids);
    if (changed) this.#view = undefined;
    return changed;
  }

  /** Drops a ghost until its configs change or a message of it comes. Publishes nothing. */
  forget(key: string, now: number): void {
    const view = this.#viewAt(now).devices.get(key);
    if (!view) return;
    this.#forgotten.set(key, this.#options.sha256(configsText(view)));
    this.#view = undefined;
  }

  /** Topics with configs, and what was left out. */
  counts(): { configs: number; ignored: { why: string; count: number }[] } {
    return { configs: this.#configs.size, ignored: this.#ignored.list(this.#view?.left ?? new Map()) };
  }

  dump(): CatalogDump {
    const states = [...this.#states].flatMap(([topic, { message }]) => {
      const listeners = [...(this.#listeners.get(topic) ?? [])];
      // Before the first config, what was restored is all that there is.
      const isValue = this.#configs.size === 0 || listeners.some((part) => part.hasValueTopic(topic));
      const isSecret = listeners.some((part) => part.isSecret(topic));
      return isValue && !isSecret && !message.bytes ? [{ topic, payload: message.text, at: message.at }] : [];
    });
    return {
      version: 1,
      ids: this.#ids.dump(),
      states,
      seen: Object.fromEntries(this.#seen),
      forgotten: Object.fromEntries(this.#forgotten),
    };
  }

  /** Before the first config. A dump that cannot be read is ignored. @returns whether it could be read */
  restore(dump: unknown): boolean {
    const read = check(Dump, dump);
    if (!read.ok) return false;
    const { ids, states, seen, forgotten } = read.value;
    this.#ids.restore(ids);
    for (const { topic, payload, at } of states) {
      const size = utf8(payload).length;
      if (size > STATE_MAX_BYTES) continue;
      this.#messages += 1;
      const kept = { number: this.#messages, now: at ?? 0, at, retained: true };
      this.#keepState(topic, new Message(payload, kept), size);
    }
    for (const [key, times] of Object.entries(seen)) {
      this.#seen.set(key, times);
      this.#seenBefore.add(key);
    }
    for (const [key, hash] of Object.entries(forgotten)) this.#forgotten.set(key, hash);
    return true;
  }

  #read(topic: string, message: Message, parts: ReadonlySet<LiveEntity>, now: number): void {
    this.#waiting.delete(topic);
    for (const part of parts) part.read(topic, message);
    if (!message.retained) for (const part of parts) this.#remember(part, now);
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
    this.#view = undefined;
    this.#topics = undefined;
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

  /** Forgets what topics said that nobody reads any more. */
  #dropStates(parts: readonly LiveEntity[]): void {
    for (const topic of parts.flatMap((part) => part.topics)) {
      const stored = this.#states.get(topic);
      if (!this.#listeners.has(topic)) this.#unread.delete(topic);
      if (!stored || this.#listeners.has(topic)) continue;
      this.#states.delete(topic);
      this.#stateBytes -= stored.bytes;
    }
  }

  /** A message of a device came: it is there again, if a person had removed it. */
  #remember(part: LiveEntity, now: number): void {
    const view = this.#forgotten.size > 0 ? this.#viewAt(now) : this.#view;
    const key = view?.keys.get(part);
    if (key === undefined || part.lastSeen === null) return;
    const seen = this.#seen.get(key);
    this.#seen.set(key, {
      first: seen?.first ?? part.lastSeen,
      last: Math.max(seen?.last ?? 0, part.lastSeen),
    });
    if (this.#forgotten.delete(key)) this.#view = undefined;
  }

  #present({ entity }: LiveEntity): LiveEntity | undefined {
    for (const { parts } of this.#configs.values()) {
      const found = parts.find(
        (part) => part.entity.kind === entity.kind && part.entity.unique === entity.unique,
      );
      if (found) return found;
    }
    return undefined;
  }

  #allowed(asks: readonly Ask[]): Ask[] {
    return asks.filter(({ topic }) => refusedCommandTopic(topic, this.#options) === undefined);
  }

  #viewOf(id: string, now: number): DeviceView | undefined {
    return [...this.#viewAt(now).devices.values()].find(({ row }) => row.id === id);
  }

  #viewAt(now: number): View {
    for (const topic of this.#migrating) {
      const since = this.#configs.get(topic)?.migratingSince;
      if (since !== undefined && now - since <= MIGRATION_MS) continue;
      this.#migrating.delete(topic);
      if (since !== undefined) this.#remove(topic);
    }
    this.#view ??= this.#newView(now);
    return this.#view;
  }

  #newView(now: number): View {
    const left = new Map<string, number>();
    const leave = (why: string, count: number) => count > 0 && left.set(why, (left.get(why) ?? 0) + count);
    const groups = oldestFirst(groupsOf(commandsFirst(this.#parts(leave))), this.#ids.ages());
    leave(`there are more than ${DEVICES_MAX} devices`, Math.max(0, groups.length - DEVICES_MAX));
    const shown = groups.slice(0, DEVICES_MAX);
    const named = groups.flatMap((group) =>
      group.parts.map(({ entity }) => ({ entity, deviceName: rawNameOf(group) })),
    );
    const dangerOf = dangers(named, this.#words, (topic) => this.#zigbee.alias(topic));
    const view: View = { devices: new Map(), keys: new Map(), left };
    const present = new Set<string>();
    for (const { identities, parts } of shown) {
      const { kept, beyond } = bounded(parts, ENTITIES_A_DEVICE_MAX);
      leave(`a device has more than ${ENTITIES_A_DEVICE_MAX} entities`, beyond.length);
      const group = { identities, parts: [...kept], beyond };
      const row = this.#ids.rowOf(identities, rawNameOf(group), present);
      present.add(row.key);
      const device = deviceView(group, row, dangerOf, this.#options.sha256);
      for (const part of parts) view.keys.set(part, row.key);
      if (!this.#seen.has(row.key)) this.#seen.set(row.key, { first: now, last: null });
      const forgotten = this.#forgotten.get(row.key);
      const isForgotten = forgotten !== undefined && forgotten === this.#options.sha256(configsText(device));
      if (!isForgotten) view.devices.set(row.key, device);
    }
    this.#ids.prune(present);
    for (const kept of [this.#seen, this.#forgotten])
      for (const key of [...kept.keys()].slice(0, Math.max(0, kept.size - REMEMBERED_MAX)))
        if (!present.has(key)) kept.delete(key);
    return view;
  }

  /**
   * All entities, each once, in the order of their topics, since a broker sends its configs in any order: the first one that
   * describes it counts, unless it says that it moves.
   */
  #parts(leave: (why: string, count: number) => void): LiveEntity[] {
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

  #inOrder(): StoredConfig[] {
    const ordered = [...this.#configs].sort(([a], [b]) => (a < b ? -1 : 1));
    return ordered.map(([, stored]) => stored);
  }

  #hosted(view: DeviceView, now: number): HostedDevice {
    const { row, parts, name, area, model, publisher, line, kinds, offered, notOffered } = view;
    const seen = this.#seen.get(row.key);
    const times = [seen?.last, ...parts.map(({ lastSeen }) => lastSeen)].filter(
      (one) => typeof one === "number",
    );
    const lastSeen = times.length > 0 ? Math.max(...times) : null;
    const isGhost =
      parts.some((part) => part.topics.length > 0) &&
      !parts.some((part) => part.isAnnounced(now)) &&
      now - (lastSeen ?? seen?.first ?? now) > GHOST_AFTER_MS;
    const absences = offered.map((part) => part.absence(now));
    const online = !isGhost && absences.some((absence) => absence === undefined);
    const reason = isGhost
      ? "it was not heard for more than 7 days"
      : (absences.find((one) => one !== undefined) ?? nothingOf(view));
    return {
      key: row.key,
      id: row.id,
      name,
      ...(area !== undefined && { area }),
      ...(model !== undefined && { model }),
      ...(publisher !== undefined && { publisher }),
      line,
      kinds: [...kinds],
      online,
      ...(!online && reason !== undefined && { reason }),
      lastSeen,
      actions: [...view.readActions, ...view.actions.map(({ advert }) => advert)],
      ...(view.settings.length > 0 && { settings: view.settings.map(({ advert }) => advert) }),
      allowHash: view.allowHash,
      allowHashBefore: view.allowHashBefore,
      ghost: isGhost,
      notOffered: [...this.#unreadOf(view).filter((one) => !view.unread.includes(one)), ...notOffered],
    };
  }
}

function sourced(named: NamedReading, now: number): SourcedReading {
  const value = named.part.value(named.spec.slot, now);
  const source = value
    ? { message: value.message, retained: value.retained }
    : { message: 0, retained: true };
  return { ...readingOf(named, now), ...source };
}

/** Keys that say what a number means. A number of before they changed is none of the new unit. */
const UNITS = ["unit_of_measurement", "temperature_unit", "color_temp_kelvin", "brightness_scale"];

function hasSameUnits({ entity: a }: LiveEntity, { entity: b }: LiveEntity): boolean {
  return UNITS.every((key) => textField(a.config, key) === textField(b.config, key));
}

/** @returns why a device has nothing to read and nothing to change; undefined: it has something */
function nothingOf({ offered, notOffered: [first] }: DeviceView): string | undefined {
  return offered.length === 0 && first ? `nothing of it can be used: ${first.what}: ${first.why}` : undefined;
}

/** A number is nobody's words. A name, or one of the config's own texts as a value, may be a sentence. */
function isStrange({ tainted, name, value }: Reading): boolean {
  return tainted || !isLabel(name) || (typeof value === "string" && value !== "" && !isLabel(value));
}

/** Members of JSON that entities read, which zigbee2mqtt calls properties. */
function propertiesOf(parts: readonly LiveEntity[]): string[] {
  return [...new Set(parts.flatMap(({ entity }) => propertiesOfEntity(entity)))];
}

/** Its templates are searched once. */
const PROPERTIES = new WeakMap<Entity, readonly string[]>();

function propertiesOfEntity(entity: Entity): readonly string[] {
  const known = PROPERTIES.get(entity);
  if (known) return known;
  const templates = Object.entries(entity.config).flatMap(([key, value]) =>
    key.endsWith("_template") && !key.includes("command") && typeof value === "string" ? [value] : [],
  );
  const members = templates.flatMap((template) =>
    [...template.matchAll(/value_json(?:\.(\w+)|\[["'](\w+)["']\])/g)].map(([, a, b]) => a ?? b ?? ""),
  );
  if (entity.kind === "light") members.push("state", "brightness", "color_temp");
  const names = [...new Set(members)];
  PROPERTIES.set(entity, names);
  return names;
}

const text = z.string().check(z.maxLength(STATE_MAX_BYTES));
const short = z.string().check(z.maxLength(300));
const time = z.nullable(z.number());
const Dump = z.object({
  version: z.literal(1),
  ids: z.array(z.object({ key: short, id: short, identities: z.array(short) })),
  states: z.array(z.object({ topic: short, payload: text, at: time })),
  seen: z.record(z.string(), z.object({ first: z.number(), last: time })),
  forgotten: z.record(z.string(), z.string()),
});
