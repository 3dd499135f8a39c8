/** Collects the parts of an entity from its registry entry and from the attributes that say what it can do. */
import { IS_SETTING } from "@edgecall/core/protocol/devices.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { Quantity } from "@edgecall/core/text/quantity.ts";
import { EntityDraft } from "../../model/entity/draft.ts";
import type { Query, ServiceCall, SlotValue } from "../../model/entity/entity.ts";
import { withUnit } from "../../model/entity/words.ts";
import { harmless } from "../../model/names.ts";
import { type Abilities, type Ability, SHOWN, VARYING } from "../abilities.ts";
import type { HomeAssistantEntity, Slot } from "../entity.ts";
import type { Entry } from "../registry.ts";
import { type EntityState, objectOf } from "../state.ts";
import { pastOf } from "./past.ts";

const NAME_MAX = 60;
const OPTION_MAX = 100;
/** Before the registry id of an entity, or the entity id of a group's member. */
export const TARGET = "ha:";
const CLASS = /^[a-z0-9_]{1,40}$/;

export class HomeAssistantDraft extends EntityDraft {
  readonly entry: Entry;
  readonly slots: Slot[] = [];
  readonly queries: Query[] = [];
  hasPicture = false;
  readonly class: string | undefined;
  readonly #abilities: Abilities;
  readonly #name: string | undefined;

  constructor(entry: Entry, abilities: Abilities) {
    super();
    this.entry = entry;
    this.#abilities = abilities;
    this.#name = harmless(entry.name ?? "", NAME_MAX) || undefined;
    const found = abilities.device_class;
    this.class = typeof found === "string" && CLASS.test(found) ? found : undefined;
  }

  get kind(): string {
    return this.entry.domain;
  }

  get title(): string {
    return this.#name ?? (this.class ?? this.kind).replaceAll("_", " ");
  }

  /** Home Assistant only remembers what it was told last. */
  get isAssumed(): boolean {
    return this.#abilities.assumed_state === true || this.entry.iotClass === "assumed_state";
  }

  reports(slot: string): boolean {
    return !this.isAssumed && this.slots.some(({ name }) => name === slot);
  }

  /** True if a bit of its `supported_features` is set. */
  can(bit: number): boolean {
    const features = this.#abilities.supported_features;
    return typeof features === "number" && (features & bit) !== 0;
  }

  number(name: Ability, byDefault: number): number;
  number(name: Ability): number | undefined;
  number(name: Ability, byDefault?: number): number | undefined {
    const value = this.#abilities[name];
    return typeof value === "number" && Number.isFinite(value) ? value : byDefault;
  }

  text(name: Ability): string | undefined {
    const value = this.#abilities[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  }

  /** True if an attribute says yes. */
  says(name: Ability): boolean {
    return this.#abilities[name] === true;
  }

  /** True if an attribute says no. */
  saysNot(name: Ability): boolean {
    return this.#abilities[name] === false;
  }

  /** The texts of a list. Those that are too long to choose, or have what is not seen, are left out. */
  list(name: Ability): string[] {
    return choosable(this.#abilities[name]);
  }

  /** Tones of a siren: a list, or the names of a table. */
  get tones(): string[] {
    const { available_tones: tones } = this.#abilities;
    return choosable(Array.isArray(tones) ? tones : Object.values(objectOf(tones)));
  }

  slot(name: string, read: (state: EntityState) => SlotValue | undefined): void {
    this.slots.push({ name, read });
  }

  /** The state itself, as one of these texts. */
  stateSlot(name: string, parse: (state: string) => SlotValue | undefined): void {
    this.slot(name, ({ state }) => (state === "unknown" ? null : parse(state)));
  }

  /** An attribute that is a number. */
  numberSlot(name: string, attribute: string): void {
    this.slot(name, ({ attributes }) => quantityOf(attributes[attribute]));
  }

  /** An attribute that is one of these texts. */
  choiceSlot(name: string, attribute: string, options: readonly string[]): void {
    this.slot(name, ({ attributes }) => {
      const value = attributes[attribute];
      if (value === null || value === undefined) return null;
      return options.find((option) => option === value);
    });
  }

  /** A measured attribute, which may be missing. */
  measured(name: string, attribute: string, label: string, unit: string | undefined): void {
    this.numberSlot(name, attribute);
    this.reading(name, withUnit(unit), {
      label,
      ...(unit !== undefined && { unit }),
      isThere: (value) => value(name) !== null,
    });
  }

  /** @param service of its own domain, or another one's as `domain.service` */
  call(service: string, data: ServiceCall["data"] = {}): ServiceCall {
    const [domain = "", name = ""] = service.includes(".") ? service.split(".") : [this.kind, service];
    return { domain, service: name, data, entity: this.entry.id };
  }

  /** Its calls go to it alone; those of a group also to its members. */
  get targets(): string[] {
    return [this.entry.id, ...this.#members].map((id) => `${TARGET}${id}`);
  }

  get #members(): string[] {
    const { entity_id: ids } = this.#abilities;
    return (Array.isArray(ids) ? ids : []).filter(
      (id) => typeof id === "string" && id !== this.entry.entityId,
    );
  }

  finish(): HomeAssistantEntity {
    const { entry } = this;
    const abilities = Object.fromEntries(
      Object.entries(this.#abilities).filter(
        ([name]) => !SHOWN.includes(name) && !VARYING[this.kind]?.includes(name),
      ),
    );
    const covered = {
      config: { platform: entry.platform, unique_id: entry.unique, domain: entry.domain, abilities },
    };
    const quoted = Object.values(this.#abilities).flat();
    const aside = this.#aside();
    const main = this.readings.find(({ label }) => label === undefined);
    const history = pastOf(
      entry,
      this.slots.find(({ name }) => name === main?.slot),
      main,
    );
    return {
      kind: this.kind,
      unique: `ha ${entry.id}`,
      entry,
      members: this.#members,
      abilities: this.#abilities,
      ...(this.#name !== undefined && { name: this.#name }),
      ...(entry.name !== undefined && { wholeName: entry.name }),
      title: this.title,
      ...(this.class !== undefined && { class: this.class }),
      ...(aside !== undefined && { aside }),
      isSetting: entry.category === "config",
      retain: false,
      slots: this.slots,
      readings: this.readings,
      // What a person has not exposed is only read.
      commands: entry.isExposed ? this.commands : [],
      ...(entry.isExposed && this.queries.length > 0 && { queries: this.queries }),
      ...(entry.isExposed && this.hasPicture && { hasPicture: true }),
      ...(history && { history }),
      answersWithinMs: entry.answersWithinMs,
      details: this.details,
      left: this.left,
      ...(quoted.some((one) => typeof one === "string" && !isLabel(one)) && { taintsErrors: true }),
      covered: () => covered,
      coveredBefore: () => undefined,
      ...(this.danger !== undefined && { danger: this.danger }),
    };
  }

  #aside(): string | undefined {
    if (this.entry.category === "config") return IS_SETTING;
    if (this.entry.category === "diagnostic") return "it is diagnostic";
    return this.entry.isExposed ? undefined : "it is not exposed in Home Assistant";
  }
}

function choosable(value: unknown): string[] {
  const texts = (Array.isArray(value) ? value : []).filter((one) => typeof one === "string");
  const isShown = (text: string) => text !== "" && harmless(text, OPTION_MAX) === text;
  return [...new Set(texts.filter(isShown))];
}

function quantityOf(value: unknown): SlotValue | undefined {
  if (value === null || value === undefined) return null;
  return typeof value === "number" || typeof value === "string" ? Quantity.parse(String(value)) : undefined;
}

export function onOff(state: string): SlotValue | undefined {
  return state === "on" ? true : state === "off" ? false : undefined;
}
