/** An entity of Home Assistant with what its states have said. */
import type { Value } from "../model/entity/entity.ts";
import type { DeviceInfo, Part, Source } from "../model/source.ts";
import type { HomeAssistantEntity } from "./entity.ts";
import type { Entry } from "./registry.ts";
import { type EntityState, isTold } from "./state.ts";

/** When a state came, and whether it is news. */
export type Moment = { number: number; now: number; retained: boolean };

export class HomeAssistantPart implements Part {
  readonly entity: HomeAssistantEntity;
  readonly source: Source;
  readonly isEverHeard = true;
  lastSeen: number | null = null;
  /** Home Assistant knows its state; the text says why it does not. */
  absentBecause: string | undefined = "Home Assistant has not told its state yet";
  readonly #values = new Map<string, Value>();
  readonly #membersNow: () => readonly (HomeAssistantPart | undefined)[];

  /** @param members of a group, as they are now; one that is not known is undefined */
  constructor(
    entity: HomeAssistantEntity,
    source: Source,
    members: () => readonly (HomeAssistantPart | undefined)[] = () => [],
  ) {
    this.entity = entity;
    this.source = source;
    this.#membersNow = members;
  }

  get members(): readonly (HomeAssistantPart | undefined)[] {
    return this.#membersNow();
  }

  get device(): DeviceInfo {
    return this.entity.entry.device;
  }

  get publisher(): string {
    return this.entity.entry.publisher;
  }

  get description(): Entry {
    return this.entity.entry;
  }

  read(state: EntityState, { number, now, retained }: Moment): void {
    const isThere = isTold(state);
    this.absentBecause = isThere ? undefined : "Home Assistant says that it is unavailable";
    if (!isThere) return;
    const at = retained ? state.updated : now;
    for (const slot of this.entity.slots) {
      const value = slot.read(state);
      if (value !== undefined)
        this.#values.set(slot.name, { value, at, heard: now, message: number, retained });
    }
    if (at !== null) this.lastSeen = Math.max(this.lastSeen ?? 0, at);
  }

  /** It has reported once more what it had reported before. */
  reportedAgain(number: number, now: number): void {
    for (const [slot, value] of this.#values)
      this.#values.set(slot, { ...value, at: now, heard: now, message: number, retained: false });
    this.lastSeen = now;
  }

  /** Takes over what it knew under another description. */
  adopt(former: HomeAssistantPart): void {
    this.lastSeen = former.lastSeen;
    this.absentBecause = former.absentBecause;
    for (const { name } of this.entity.slots) {
      const value = former.#values.get(name);
      if (value) this.#values.set(name, value);
    }
  }

  /** The connection is lost: what was known is not known any more. */
  forget(why: string): void {
    this.#values.clear();
    this.absentBecause = why;
  }

  value(slot: string): Value | undefined {
    return this.#values.get(slot);
  }

  isExpired(): boolean {
    return false;
  }

  absence(): string | undefined {
    return this.absentBecause;
  }

  isAnnounced(): boolean {
    return this.absentBecause === undefined;
  }

  /** The clock was set by so many ms. */
  clockSet(by: number): void {
    for (const [slot, value] of this.#values)
      this.#values.set(slot, {
        ...value,
        heard: value.heard + by,
        at: value.at === null ? null : value.at + by,
      });
    if (this.lastSeen !== null) this.lastSeen += by;
  }
}
