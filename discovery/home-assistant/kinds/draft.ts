/** Collects the parts of an entity from its registry entry and from the attributes that say what it can do. */
import { IS_SETTING } from "@edgecall/core/protocol/devices.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { Quantity } from "@edgecall/core/text/quantity.ts";
import { EntityDraft } from "../../model/entity/draft.ts";
import type { ServiceCall, SlotValue } from "../../model/entity/entity.ts";
import { withUnit } from "../../model/entity/words.ts";
import { harmless } from "../../model/names.ts";
import type { HomeAssistantEntity, Slot } from "../entity.ts";
import type { Entry } from "../registry.ts";
import type { EntityState } from "../state.ts";

const NAME_MAX = 60;
const OPTION_MAX = 100;
const CLASS = /^[a-z0-9_]{1,40}$/;

/** Attributes that say what an entity can do. They stay while it is unavailable. */
const ABILITIES = [
  "assumed_state",
  "available_modes",
  "available_tones",
  "code_arm_required",
  "code_format",
  "device_class",
  "effect_list",
  "entity_id",
  "fan_modes",
  "fan_speed_list",
  "hvac_modes",
  "max",
  "max_color_temp_kelvin",
  "max_humidity",
  "max_temp",
  "min",
  "min_color_temp_kelvin",
  "min_humidity",
  "min_temp",
  "operation_list",
  "options",
  "pattern",
  "percentage_step",
  "preset_modes",
  "source_list",
  "state_class",
  "step",
  "supported_color_modes",
  "supported_features",
  "swing_modes",
  "target_temp_step",
  "unit_of_measurement",
] as const;
/** They change no call. */
const SHOWN: readonly string[] = ["unit_of_measurement", "state_class"];

type Ability = (typeof ABILITIES)[number];
type Abilities = Partial<Record<Ability, unknown>>;

export function abilitiesOf({ attributes }: EntityState): Abilities {
  const named = ABILITIES.filter((name) => attributes[name] !== undefined && attributes[name] !== null);
  return Object.fromEntries(named.map((name) => [name, attributes[name]]));
}

export class HomeAssistantDraft extends EntityDraft {
  readonly entry: Entry;
  readonly slots: Slot[] = [];
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

  /** The texts of a list. Those that are too long to choose are left out. */
  list(name: Ability): string[] {
    const value = this.#abilities[name];
    const texts = (Array.isArray(value) ? value : []).filter((one) => typeof one === "string");
    return [...new Set(texts.filter((text) => text !== "" && text.length <= OPTION_MAX))];
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
    return [`ha:${this.entry.id}`];
  }

  finish(): HomeAssistantEntity {
    const { entry } = this;
    const abilities = Object.fromEntries(
      Object.entries(this.#abilities).filter(([name]) => !SHOWN.includes(name)),
    );
    const covered = {
      config: { platform: entry.platform, unique_id: entry.unique, domain: entry.domain, abilities },
    };
    const quoted = Object.values(this.#abilities).flat();
    const aside = this.#aside();
    return {
      kind: this.kind,
      unique: `ha ${entry.id}`,
      entry,
      members: this.list("entity_id").filter((member) => member !== entry.entityId),
      abilities: JSON.stringify(this.#abilities),
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
      details: this.details,
      left: this.left,
      ...(quoted.some((one) => typeof one === "string" && !isLabel(one)) && { quotesStrangers: true }),
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

function quantityOf(value: unknown): SlotValue | undefined {
  if (value === null || value === undefined) return null;
  return typeof value === "number" || typeof value === "string" ? Quantity.parse(String(value)) : undefined;
}

export function onOff(state: string): SlotValue | undefined {
  return state === "on" ? true : state === "off" ? false : undefined;
}
