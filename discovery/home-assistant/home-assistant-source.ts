/**
 * Devices of Home Assistant: its registries say which there are, its states what they report. The connection is the caller's. It gives
 * what a person has exposed to Assist, and of the same devices what is only read.
 */
import { type PictureKey, SAVED_STATE_MAX_CHARS, type SavedState } from "../model/device.ts";
import type { ServiceCall, Step } from "../model/entity/entity.ts";
import type { Failure, Part, Sending, Source, SourceEvents } from "../model/source.ts";
import { type Abilities, abilitiesOf, lostWhenAway } from "./abilities.ts";
import type { HomeAssistantEntity } from "./entity.ts";
import { entityOf, isKnownKind, OF_PEOPLE, READ_ONLY } from "./kinds/all.ts";
import { TARGET } from "./kinds/draft.ts";
import { HomeAssistantPart } from "./part.ts";
import { type Entry, type RegistryLists, readEntries, unregistered } from "./registry.ts";
import { type EntityState, isTold, objectOf, States } from "./state.ts";

const AWAY = "Home Assistant is not connected";
const ENTITIES_MAX = 4_000;

/** An integration that has no push writes what was asked for first, and takes it back when its device did not do it. */
const SETTLES_MS = 3_000;

/** Before a registry id, in what is saved. No topic of MQTT begins so. */
const ABILITIES_OF = "#home-assistant/";

const WITHOUT_STATE: EntityState = { state: "unavailable", attributes: {}, updated: null };

export class HomeAssistantSource implements Source {
  readonly name = "home-assistant";
  readonly #events: SourceEvents;
  /** By their registry ids. */
  readonly #parts = new Map<string, HomeAssistantPart>();
  /** Registry ids by entity ids. */
  readonly #ids = new Map<string, string>();
  /** Of all entities, by their entity ids: a group's members may not be exposed. */
  #entries = new Map<string, Entry>();
  /** Members of groups that are not given themselves, by their entity ids. */
  readonly #members = new Map<string, HomeAssistantPart>();
  readonly #states = new States();
  readonly #failures = new Map<string, Failure>();
  /** What entities could do when they were there, by their registry ids: kept over a start of the bridge. */
  readonly #kept = new Map<string, Abilities>();
  readonly #people: ReadonlySet<string>;
  #left = 0;

  /** @param people entity ids of the persons and trackers that are given */
  constructor(events: SourceEvents, people: Iterable<string> = []) {
    this.#events = events;
    this.#people = new Set(people);
  }

  /** Reads the registries, after each connect and when one of them has changed. */
  known(lists: RegistryLists, now: number): void {
    const all = readEntries(lists).map((entry) =>
      isOfPeople(entry) ? { ...entry, isExposed: this.#people.has(entry.entityId) } : entry,
    );
    // A tracker's device is somebody's phone: what else it measures is not told.
    const visible = all.filter(({ isHidden, domain }) => isHidden === undefined && isKnownKind(domain));
    const shown = new Set(
      visible.filter((one) => one.isExposed && !isOfPeople(one)).flatMap(({ device }) => device.identities),
    );
    const given = visible.filter(
      ({ domain, isExposed, device }) =>
        isExposed || (READ_ONLY.includes(domain) && device.identities.some((one) => shown.has(one))),
    );
    this.#left = Math.max(0, given.length - ENTITIES_MAX);
    const [former, ids] = [new Map(this.#parts), new Map(this.#ids)];
    this.#entries = new Map(all.map((entry) => [entry.entityId, entry]));
    this.#members.clear();
    this.#parts.clear();
    this.#ids.clear();
    for (const entry of given.slice(0, ENTITIES_MAX)) {
      this.#ids.set(entry.entityId, entry.id);
      const state = this.#states.get(entry.entityId);
      const before = former.get(entry.id);
      const part = this.#make(entry, state ?? WITHOUT_STATE, before);
      // A state that came while its id belonged to no entity was not read.
      const wasRead = before !== undefined && ids.get(entry.entityId) === entry.id;
      if (state && !wasRead) part.read(state, { number: this.#events.next(), now, retained: true });
    }
    for (const id of this.#kept.keys()) if (!this.#parts.has(id)) this.#kept.delete(id);
    this.#events.changed();
  }

  /** Reads an event of `subscribe_entities`. @returns the parts that it is about */
  state(event: unknown, now: number): HomeAssistantPart[] {
    const { whole, changed, gone } = this.#states.read(event);
    const number = this.#events.next();
    const read = [
      // An entity that comes with its whole state was there before: after a connect, a reload, a rename.
      ...whole.flatMap(([id, state]) => this.#read(id, state, { number, now, retained: true })),
      ...changed.flatMap(([id, state]) => this.#read(id, state, { number, now, retained: false })),
    ];
    for (const id of gone) this.partNamed(id)?.forget("Home Assistant has it no more");
    for (const part of read) if (part.lastSeen === now) this.#events.heard(part, now);
    return read;
  }

  /**
   * An entity has another id, or none, from now on. Before the registries are read anew its former id may be another one's: a call by it
   * would reach that one.
   */
  renamed(former: string, now: string | undefined): void {
    const [id, entry] = [this.#ids.get(former), this.#entries.get(former)];
    this.#ids.delete(former);
    this.#entries.delete(former);
    if (now === undefined) return;
    if (entry) {
      entry.entityId = now;
      this.#entries.set(now, entry);
    }
    if (id !== undefined) this.#ids.set(now, id);
  }

  /** The connection was lost, or Home Assistant stops. */
  lost(): void {
    this.#states.clear();
    for (const part of [...this.#parts.values(), ...this.#members.values()]) part.forget(AWAY);
    this.#events.changed();
  }

  /** The entity reported once more what it had reported before: no event says so. */
  reportedAgain(entityId: string, now: number): void {
    const part = this.partNamed(entityId);
    if (!part || part.absence() !== undefined) return;
    part.reportedAgain(this.#events.next(), now);
    this.#events.heard(part, now);
  }

  /** Home Assistant answered a call with an error. @param text for a person */
  failed(key: string, text: string): void {
    if (this.#failures.size >= ENTITIES_MAX) this.#failures.clear();
    this.#failures.set(key, { message: this.#events.next(), text });
  }

  /** The state of any entity, also of one that is not given; undefined: it is not known. */
  stateOf(entityId: string): string | undefined {
    return this.#states.get(entityId)?.state;
  }

  partNamed(entityId: string): HomeAssistantPart | undefined {
    return this.#parts.get(this.#ids.get(entityId) ?? "") ?? this.#members.get(entityId);
  }

  /** @returns the entity ids of those that are judged for a command to this one: the members of a group, or itself */
  judgedFor(key: string): string[] {
    const entity = this.#parts.get(key)?.entity;
    return entity ? this.#judged(entity.entry.entityId) : [];
  }

  /** Of groups in groups each member, once. Groups that are in each other have none. */
  #judged(entityId: string, seen: Set<string> = new Set()): string[] {
    if (seen.has(entityId)) return [];
    seen.add(entityId);
    const members = this.partNamed(entityId)?.entity.members ?? [];
    return members.length > 0 ? members.flatMap((member) => this.#judged(member, seen)) : [entityId];
  }

  /** @returns the entity id of now; undefined: there is none */
  entityIdOf(key: string): string | undefined {
    const entityId = this.#parts.get(key)?.entity.entry.entityId;
    return entityId !== undefined && this.#ids.get(entityId) === key ? entityId : undefined;
  }

  parts(leave: (why: string, count: number) => void): Part[] {
    leave(`there are more than ${ENTITIES_MAX} entities`, this.#left);
    return [...this.#parts.values()].sort((a, b) => (a.entity.unique < b.entity.unique ? -1 : 1));
  }

  partLike(part: Part): Part | undefined {
    return this.#own(part);
  }

  sending(part: Part, steps: readonly Step[]): Sending | { error: string } {
    const own = this.#own(part);
    if (!own) return { error: "cannot be sent: Home Assistant has it no more" };
    const { id, iotClass, answersWithinMs } = own.entity.entry;
    const isPolled = iotClass.endsWith("_polling");
    const isCloud = iotClass.startsWith("cloud_");
    return {
      steps: [...steps],
      isEchoed: () => false,
      answersWithinMs,
      ...((isCloud || isPolled) && { settlesWithinMs: SETTLES_MS }),
      asks: isPolled ? [updateOf(id)] : [],
      failure: () => this.#failures.get(id),
    };
  }

  asks(_parts: readonly Part[], offered: readonly Part[]): Step[] {
    return offered.flatMap((part) => {
      const entry = this.#own(part)?.entity.entry;
      return entry?.iotClass.endsWith("_polling") ? [updateOf(entry.id)] : [];
    });
  }

  /** Members of a group are named by their entity ids. */
  alias(target: string): string {
    const id = target.startsWith(TARGET) ? this.#ids.get(target.slice(TARGET.length)) : undefined;
    return id === undefined ? target : `${TARGET}${id}`;
  }

  unread(): { what: string; why: string }[] {
    return [];
  }

  /** Nothing brings one: each is asked for. */
  picture(part: Part): PictureKey | undefined {
    const entry = this.#own(part)?.entity.entry;
    return entry && { key: entry.id };
  }

  expire(): void {}

  clockSet(by: number): Part[] {
    const all = [...this.#parts.values()];
    for (const part of all) part.clockSet(by);
    return all;
  }

  counts(): ReturnType<Source["counts"]> {
    return { configs: this.#parts.size, ignored: [] };
  }

  /** No state that was known before a connect is believed. What an entity could do is, while it is away. */
  saved(): SavedState[] {
    for (const { absentBecause, entity } of this.#parts.values())
      if (absentBecause === undefined) this.#keep(entity);
    return [...this.#kept].flatMap(([id, abilities]) => {
      const payload = JSON.stringify(abilities);
      const isShort = payload.length <= SAVED_STATE_MAX_CHARS;
      return isShort ? [{ topic: `${ABILITIES_OF}${id}`, payload, at: null }] : [];
    });
  }

  restore(states: readonly SavedState[]): void {
    for (const { topic, payload } of states)
      if (topic.startsWith(ABILITIES_OF))
        this.#kept.set(topic.slice(ABILITIES_OF.length), lostWhenAway(objectOf(JSON.parse(payload))));
  }

  #keep({ abilities, entry: { id } }: HomeAssistantEntity): void {
    const lost = lostWhenAway(abilities);
    this.#kept.delete(id);
    if (Object.keys(lost).length > 0) this.#kept.set(id, lost);
  }

  #read(
    id: string,
    state: EntityState,
    moment: Parameters<HomeAssistantPart["read"]>[1],
  ): HomeAssistantPart[] {
    const part = this.partNamed(id);
    if (!part) return [];
    const { entity } = part;
    const { abilities, entry } = entity;
    const isOther = JSON.stringify(abilitiesOf(entry.domain, state, abilities)) !== JSON.stringify(abilities);
    const isMember = this.#members.has(id);
    const make = () => (isMember ? this.#makeMember(entry, state, part) : this.#make(entry, state, part));
    const current = isOther ? make() : part;
    current.read(state, moment);
    // A member that is dangerous makes its group so.
    if (isOther) this.#events.changed();
    return [current];
  }

  #make(entry: Entry, state: EntityState, former: HomeAssistantPart | undefined): HomeAssistantPart {
    const before = former?.entity.abilities ?? (isTold(state) ? undefined : this.#kept.get(entry.id));
    const part = this.#partOf(entityOf(entry, state, before), former);
    this.#parts.set(entry.id, part);
    this.#addMembers(part);
    return part;
  }

  #partOf(entity: HomeAssistantEntity, former: HomeAssistantPart | undefined): HomeAssistantPart {
    const part = new HomeAssistantPart(entity, this, () => {
      if (entity.members.length === 0) return [];
      const members = this.#judged(entity.entry.entityId);
      return members.length > 0 ? members.map((member) => this.partNamed(member)) : [undefined];
    });
    if (former) part.adopt(former);
    return part;
  }

  #addMembers({ entity }: HomeAssistantPart): void {
    for (const member of entity.members) this.#addMember(member, entity.entry);
  }

  #addMember(entityId: string, group: Entry): void {
    if (this.#ids.has(entityId) || this.#members.has(entityId)) return;
    // An entity whose configuration gives it no id of its own is in no registry.
    const entry = this.#entries.get(entityId) ?? unregistered(entityId, group);
    if (!isKnownKind(entry.domain)) return;
    const state = this.#states.get(entityId);
    const part = this.#makeMember(entry, state ?? WITHOUT_STATE, undefined);
    if (state) part.read(state, { number: this.#events.next(), now: 0, retained: true });
  }

  /** It may be a group of its own, with members that are not given either. */
  #makeMember(entry: Entry, state: EntityState, former: HomeAssistantPart | undefined): HomeAssistantPart {
    const part = this.#partOf(entityOf(entry, state, former?.entity.abilities), former);
    this.#members.set(entry.entityId, part);
    this.#addMembers(part);
    return part;
  }

  #own({ entity: { unique } }: Part): HomeAssistantPart | undefined {
    return this.#parts.get(unique.replace(/^ha /, ""));
  }
}

function isOfPeople({ domain }: Entry): boolean {
  return OF_PEOPLE.includes(domain);
}

/** A polling integration reads its device then. Of another one it would only write the state once more, as if the device had reported. */
function updateOf(entity: string): ServiceCall {
  return { domain: "homeassistant", service: "update_entity", data: {}, entity };
}
