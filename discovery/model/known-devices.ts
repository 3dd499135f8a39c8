/**
 * All devices of which the sources tell, with their last values: what they are called, what is read and changed, and whether a change
 * was carried out. The connections are the caller's. Times are passed in (epoch ms).
 */
import type { Foreseen, ForeseenCall } from "@edgecall/core/automations/device.ts";
import { DEVICES_MAX } from "@edgecall/core/protocol/devices.ts";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import {
  type Asked,
  type DevicesDump,
  type EarlierPast,
  GHOST_AFTER_MS,
  type HostedDevice,
  type Mark,
  type PictureKey,
  type Plan,
  type PlanError,
  type Reading,
  SAVED_STATE_MAX_CHARS,
  type Snapshot,
  type SourcedReading,
  type SourceName,
} from "./device.ts";
import {
  type DeviceView,
  descriptionText,
  deviceView,
  isThere,
  type NamedReading,
  plainValue,
  rawNameOf,
  readingOf,
} from "./device-view.ts";
import type { Step } from "./entity/entity.ts";
import { fieldsOf } from "./fields.ts";
import { type ForeseenContext, foreseenOf, isAsAsked, undoTo } from "./foreseen.ts";
import { type Group, groupsOf } from "./grouping.ts";
import { IdTable } from "./id-table.ts";
import { wrongParameter } from "./parameters.ts";
import { planOf } from "./plan.ts";
import { type ReadAnswer, readAnswer } from "./read-answer.ts";
import { bounded, commandsFirst, ENTITIES_A_DEVICE_MAX, oldestFirst } from "./room.ts";
import type { Part, Source, SourceEvents } from "./source.ts";
import { dangers } from "./trust/danger.ts";
import { foldedWords } from "./trust/danger-words.ts";

export type KnownDevicesOptions = {
  /** Hex SHA-256 of a text. `core/` has no synchronous one. */
  sha256: (text: string) => string;
  /** Words in a name that make a command dangerous, in addition to those of trust/danger-words.ts. */
  dangerText?: readonly string[];
  /** A device that it has is its own, whatever the others say of it. Absent: the source that was added first. */
  firstSource?: SourceName | undefined;
};

type View = {
  devices: Map<string, DeviceView>;
  /** By its parts. */
  keys: Map<Part, string>;
  /** Counts of what does not fit, by the reason. */
  left: Map<string, number>;
};

/** Devices that are long gone, of which something is remembered. */
const REMEMBERED_MAX = 1_000;

export class KnownDevices {
  readonly #sha256: (text: string) => string;
  readonly #words: ReadonlySet<string>;
  readonly #sources: Source[] = [];
  readonly #firstSource: SourceName | undefined;
  readonly #ids: IdTable;
  readonly #seen = new Map<string, { first: number; last: number | null }>();
  /** Devices of an earlier run: the time since when they are known does not move with the clock. */
  readonly #seenBefore = new Set<string>();
  readonly #forgotten = new Map<string, string>();
  #messages = 0;
  #view: View | undefined;

  constructor({ sha256, dangerText, firstSource }: KnownDevicesOptions) {
    this.#sha256 = sha256;
    this.#firstSource = firstSource;
    this.#words = foldedWords(dangerText ?? []);
    this.#ids = new IdTable(sha256);
  }

  /** Adds a source. @param made makes it, given what it tells the model by */
  protected add<Made extends Source>(made: (events: SourceEvents) => Made): Made {
    const source = made({
      last: () => this.#messages,
      next: () => {
        this.#messages += 1;
        return this.#messages;
      },
      changed: () => {
        this.#view = undefined;
      },
      heard: (part, now) => this.#heard(part, now),
    });
    if (source.name === this.#firstSource) this.#sources.unshift(source);
    else this.#sources.push(source);
    return source;
  }

  /** The clock was set by so many ms: what came in this run is as old as before. */
  clockSet(by: number): void {
    for (const [key, seen] of this.#seen) if (!this.#seenBefore.has(key)) seen.first += by;
    for (const part of this.#sources.flatMap((source) => source.clockSet(by))) {
      const seen = this.#seen.get(this.#view?.keys.get(part) ?? "");
      if (seen) seen.last = part.lastSeen;
    }
  }

  /** A place that commands send to, in the one spelling that its source has for it. */
  #spellingOf(target: string): string {
    return this.#sources.reduce((spelling, source) => source.alias(spelling), target);
  }

  /** Values of a device that came and were not read. */
  #unreadOf({ offered }: DeviceView): { what: string; why: string }[] {
    return this.#sources.flatMap((source) => source.unread(offered.filter(isOf(source))));
  }

  /** A moment before a command is sent. Only messages after it confirm the command. */
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

  /** The device with this key. */
  deviceOf(key: string, now: number): HostedDevice | undefined {
    const view = this.#viewAt(now).devices.get(key);
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

  /** Keys of the devices to which these parts belong. */
  keysOf(parts: readonly Part[], now: number): string[] {
    const { keys } = this.#viewAt(now);
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

  /** The past of a reading at its source, by the device's key; undefined: the source keeps none of it. */
  earlierOf(key: string, name: string, now: number): EarlierPast | undefined {
    const readings = this.#viewAt(now).devices.get(key)?.readings ?? [];
    // The main reading of an entity has a past; a brightness beside it has none.
    const named = readings.find((one) => one.name === name && one.spec.label === undefined);
    const history = named?.part.entity.history;
    if (!history) return undefined;
    const values = (response: unknown) =>
      history.values(response).map(({ at, value }) => ({ at, value: plainValue(value) }));
    return { ...history, source: named.part.source.name, values };
  }

  /** The text of a `read` action's result, or an error that names the parameter. Both may hold a stranger's words: names are the publisher's. */
  read(id: string, parameters: Readonly<Record<string, unknown>>, now: number): ReadAnswer {
    const view = this.#viewOf(id, now);
    if (!view) return { error: `there is no device ${id}` };
    const readings = (all: boolean) => this.readings(id, now, all);
    return readAnswer(
      {
        device: this.#hosted(view, now),
        readings,
        everything: () => this.#everyReading(id, now),
        unread: () => [...this.#unreadOf(view), ...view.unread],
      },
      parameters,
      now,
    );
  }

  /** What a read action asks its source for; undefined: the device has no such query. */
  query(
    id: string,
    action: string,
    parameters: Readonly<Record<string, unknown>>,
    now: number,
  ): Asked | { error: string } | undefined {
    const view = this.#viewOf(id, now);
    const found = view?.queries.find(({ advert }) => advert.name === action);
    if (!view || !found) return undefined;
    const { part, query } = found;
    const wrong = wrongParameter({ parameters: query.parameters, required: [] }, parameters);
    if (wrong !== undefined) return { error: wrong };
    const absence = part.absence(now);
    if (absence !== undefined) return { error: `${view.name} is offline: ${absence}` };
    const words = (response: unknown) => query.words(response, now);
    return { source: part.source.name, call: query.ask(parameters, now), words };
  }

  /** The last picture of a `snapshot` action, or the key by which its source is asked for it. */
  picture(id: string, action: string, now: number): Snapshot | PictureKey | { error: string } {
    const view = this.#viewOf(id, now);
    const part = view?.pictures.find(({ advert }) => advert.name === action)?.part;
    if (!part) return { error: `action: ${id} has no ${action}` };
    return part.source.picture(part) ?? { error: `${view?.name} has not sent a picture yet` };
  }

  /**
   * The steps that carry out an action, and how its confirmation is judged; or an error that names the parameter. Make it right
   * before it is carried out: it remembers the values of then.
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
    const readings = view.readings.flatMap((one) => (one.part === part ? [one.name] : []));
    const plan = planOf({ deviceName: view.name, command, part }, parameters, now);
    const others = (part.members ?? []).flatMap((member) => member?.entity.commands ?? []);
    const targets = [command, ...others].flatMap((one) =>
      one.targets.map((target) => this.#spellingOf(target)),
    );
    return "error" in plan ? plan : { ...plan, readings, targets: [...new Set(targets)] };
  }

  /** What a rule has to know of an action before it is allowed, also of a device that is offline; or an error that names the parameter. */
  foresee(
    id: string,
    action: string,
    parameters: Readonly<Record<string, unknown>>,
    now: number,
  ): Foreseen | { error: string } {
    const found = this.#ruleCommand(id, action, now);
    if (!found) return { error: `there is no action '${action}' of ${id}` };
    const { context, readings, allow } = found;
    if (context.part.entity.kind === "update") return { error: "a person alone installs an update" };
    const foreseen = foreseenOf(context, parameters, now);
    if ("error" in foreseen) return foreseen;
    const { slots, ...rest } = foreseen;
    const changes = slots.flatMap(({ slot, ...to }) => {
      const reading = readings.get(slot);
      return reading === undefined ? [] : [{ reading, ...to }];
    });
    return { ...rest, allow, changes, readings: [...readings.values()] };
  }

  /**
   * The call that brings back what an action changed.
   * @param before values from before it, by the names of readings
   * @returns `dangerous`: it would need a person at that moment; undefined: there is none
   */
  undoTo(
    id: string,
    { action, parameters }: ForeseenCall,
    before: Readonly<Record<string, unknown>>,
    now: number,
  ): ForeseenCall | "dangerous" | undefined {
    const found = this.#ruleCommand(id, action, now);
    return found && undoTo(found.context, parameters, before, found.readings);
  }

  /** @returns whether the values of now are what an action asks for; undefined: they are not known, or nothing reports them */
  isAsAsked(id: string, { action, parameters }: ForeseenCall, now: number): boolean | undefined {
    const found = this.#ruleCommand(id, action, now);
    return found && isAsAsked(found.context, parameters, now);
  }

  /** @property readings of the entity that it changes, by their slots */
  #ruleCommand(
    id: string,
    action: string,
    now: number,
  ): { context: ForeseenContext; readings: Map<string, string>; allow: string } | undefined {
    const view = this.#viewOf(id, now);
    const found = view?.actions.find(({ advert }) => advert.name === action);
    if (!view || !found) return undefined;
    const { part, command, advert } = found;
    const siblings = view.actions.flatMap((one) =>
      one.part === part ? [{ name: one.advert.name, command: one.command, why: one.advert.danger_why }] : [],
    );
    const context = { deviceName: view.name, command, part, why: advert.danger_why, siblings };
    const readings = view.readings.filter((one) => one.part === part);
    return {
      context: { ...context, words: this.#words },
      readings: new Map(readings.map(({ spec, name }) => [spec.slot, name])),
      allow: view.allowHash,
    };
  }

  /** Steps that make a device report its values, where its source has such. */
  asks(id: string, now: number): Step[] {
    const view = this.#viewOf(id, now);
    if (!view) return [];
    const { parts, offered } = view;
    return this.#sources.flatMap((source) =>
      source.asks(parts.filter(isOf(source)), offered.filter(isOf(source))),
    );
  }

  /** Ids of agents with a key: a device whose id is among them gets another one. @returns whether one did */
  reserve(ids: Iterable<string>): boolean {
    const changed = this.#ids.reserve(ids);
    if (changed) this.#view = undefined;
    return changed;
  }

  /** Drops a ghost until its source describes it otherwise or a message of it comes. Sends nothing. */
  forget(key: string, now: number): void {
    const view = this.#viewAt(now).devices.get(key);
    if (!view) return;
    this.#forgotten.set(key, this.#sha256(descriptionText(view)));
    this.#view = undefined;
  }

  /** Descriptions that are known, and what was left out. */
  counts(): { configs: number; ignored: { why: string; count: number }[] } {
    const all = this.#sources.map((source) => source.counts());
    const ignored = new Map<string, number>();
    const more = [...(this.#view?.left ?? [])].map(([why, count]) => ({ why, count }));
    for (const { why, count } of [...all.flatMap((one) => one.ignored), ...more])
      ignored.set(why, (ignored.get(why) ?? 0) + count);
    return {
      configs: all.reduce((sum, { configs }) => sum + configs, 0),
      ignored: [...ignored].map(([why, count]) => ({ why, count })),
    };
  }

  dump(): DevicesDump {
    return {
      version: 1,
      ids: this.#ids.dump(),
      states: this.#sources.flatMap((source) => source.saved()),
      seen: Object.fromEntries(this.#seen),
      forgotten: Object.fromEntries(this.#forgotten),
    };
  }

  /** Before anything has come. A dump that cannot be read is ignored. @returns whether it could be read */
  restore(dump: unknown): boolean {
    const read = check(Dump, dump);
    if (!read.ok) return false;
    const { ids, states, seen, forgotten } = read.value;
    this.#ids.restore(ids);
    for (const source of this.#sources) source.restore(states);
    for (const [key, times] of Object.entries(seen)) {
      this.#seen.set(key, times);
      this.#seenBefore.add(key);
    }
    for (const [key, hash] of Object.entries(forgotten)) this.#forgotten.set(key, hash);
    return true;
  }

  /** A message of a device came: it is there again, if a person had removed it. */
  #heard(part: Part, now: number): void {
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

  #viewOf(id: string, now: number): DeviceView | undefined {
    for (const view of this.#viewAt(now).devices.values()) if (view.row.id === id) return view;
    return undefined;
  }

  #viewAt(now: number): View {
    for (const source of this.#sources) source.expire(now);
    this.#view ??= this.#newView(now);
    return this.#view;
  }

  #newView(now: number): View {
    const left = new Map<string, number>();
    const leave = (why: string, count: number) => count > 0 && left.set(why, (left.get(why) ?? 0) + count);
    const parts = commandsFirst(this.#sources.flatMap((source) => source.parts(leave)));
    const groups = oldestFirst(
      groupsOf(parts).map((group) => ofOneSource(group, this.#sources)),
      this.#ids.ages(),
    );
    leave(`there are more than ${DEVICES_MAX} devices`, Math.max(0, groups.length - DEVICES_MAX));
    const shown = groups.slice(0, DEVICES_MAX);
    const named = groups.flatMap((group) =>
      group.parts.map(({ entity, members = [] }) => ({
        entity,
        deviceName: rawNameOf(group),
        members: members.flatMap((one) =>
          one ? [{ entity: one.entity, deviceName: one.device.name ?? "" }] : [],
        ),
      })),
    );
    const dangerOf = dangers(named, this.#words, (target) => this.#spellingOf(target));
    const view: View = { devices: new Map(), keys: new Map(), left };
    const present = new Set<string>();
    for (const { identities, parts, also } of shown) {
      const { kept, beyond } = bounded(parts, ENTITIES_A_DEVICE_MAX);
      leave(`a device has more than ${ENTITIES_A_DEVICE_MAX} entities`, beyond.length);
      const group = { identities, parts: [...kept], beyond, ...(also && { also }) };
      const row = this.#ids.rowOf(identities, rawNameOf(group), present);
      present.add(row.key);
      const device = deviceView(group, row, dangerOf, this.#sha256);
      for (const part of parts) view.keys.set(part, row.key);
      if (!this.#seen.has(row.key)) this.#seen.set(row.key, { first: now, last: null });
      const forgotten = this.#forgotten.get(row.key);
      const isForgotten = forgotten !== undefined && forgotten === this.#sha256(descriptionText(device));
      if (!isForgotten) view.devices.set(row.key, device);
    }
    this.#ids.prune(present);
    for (const kept of [this.#seen, this.#forgotten])
      for (const key of [...kept.keys()].slice(0, Math.max(0, kept.size - REMEMBERED_MAX)))
        if (!present.has(key)) kept.delete(key);
    return view;
  }

  #hosted(view: DeviceView, now: number): HostedDevice {
    const { row, parts, name, area, floor, aliases, model, publisher, line, kinds, offered, notOffered } =
      view;
    const seen = this.#seen.get(row.key);
    const times = [seen?.last, ...parts.map(({ lastSeen }) => lastSeen)].filter(
      (one) => typeof one === "number",
    );
    const lastSeen = times.length > 0 ? Math.max(...times) : null;
    const isGhost =
      parts.some((part) => part.isEverHeard) &&
      !parts.some((part) => part.isAnnounced(now)) &&
      now - (lastSeen ?? seen?.first ?? now) > GHOST_AFTER_MS;
    const absences = offered.map((part) => part.absence(now));
    const online = !isGhost && absences.some((absence) => absence === undefined);
    const reason = isGhost
      ? "it was not heard for more than 7 days"
      : (absences.find((one) => one !== undefined) ?? nothingOf(view));
    return {
      // Its parts are all of one source.
      source: parts[0]?.source.name ?? "mqtt",
      key: row.key,
      id: row.id,
      name,
      ...(area !== undefined && { area }),
      ...(floor !== undefined && { floor }),
      ...(aliases.length > 0 && { aliases }),
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
      notOffered: [...this.#unreadOf(view), ...notOffered],
    };
  }
}

function sourced(named: NamedReading, now: number): SourcedReading {
  const value = named.part.value(named.spec.slot, now);
  const { message, retained } = value ?? { message: 0, retained: true };
  const known = Math.max(message, named.part.knownBy?.(named.spec.slot) ?? 0);
  return { ...readingOf(named, now), message, retained, known, from: named.part.source.name };
}

/**
 * A device that two sources have is the first one's: it keeps its name, its actions and what a person has allowed, whatever the other
 * one says of it. Where it is, and by which words it is found, the other one may add.
 */
function ofOneSource(group: Group, sources: readonly Source[]): Group {
  const source = sources.find((one) => group.parts.some(isOf(one)));
  const parts = source ? group.parts.filter(isOf(source)) : group.parts;
  if (parts.length === group.parts.length) return group;
  const also = group.parts.filter((part) => !parts.includes(part)).map(({ device }) => device);
  return { identities: [...new Set(parts.flatMap(({ device }) => device.identities))], parts, also };
}

function isOf(source: Source): (part: Part) => boolean {
  return (part) => part.source === source;
}

/** @returns why a device has nothing to read and nothing to change; undefined: it has something */
function nothingOf({ offered, notOffered: [first] }: DeviceView): string | undefined {
  return offered.length === 0 && first ? `nothing of it can be used: ${first.what}: ${first.why}` : undefined;
}

const text = z.string().check(z.maxLength(SAVED_STATE_MAX_CHARS));
const short = z.string().check(z.maxLength(300));
const time = z.nullable(z.number());
const Dump = z.object({
  version: z.literal(1),
  ids: z.array(z.object({ key: short, id: short, identities: z.array(short) })),
  states: z.array(z.object({ topic: short, payload: text, at: time })),
  seen: z.record(z.string(), z.object({ first: z.number(), last: time })),
  forgotten: z.record(z.string(), z.string()),
});
