/** What an entity can do, by its attributes. */
import { type EntityState, isTold } from "./state.ts";

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
  "event_types",
  "fan_modes",
  "fan_speed_list",
  "has_date",
  "has_time",
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
  "sound_mode_list",
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
export const SHOWN: readonly string[] = [
  "assumed_state",
  "event_types",
  "state_class",
  "unit_of_measurement",
];
/** Of these kinds some come and go with what the device does, so an allowance must not end with them. */
export const VARYING: Readonly<Record<string, readonly string[]>> = {
  climate: ["fan_modes", "max_temp", "min_temp", "preset_modes", "supported_features", "swing_modes"],
  media_player: ["sound_mode_list", "source_list", "supported_features"],
};
/** Of these the attribute `mode` says what they are: of others it is a state. */
const HAVE_MODE = ["input_text", "text"];

export type Ability = (typeof ABILITIES)[number] | "mode";
export type Abilities = Partial<Record<Ability, unknown>>;

/** An entity that is away has lost these. */
const LOST: readonly Ability[] = ["code_arm_required", "code_format", "entity_id", "percentage_step"];

/** @returns of what an entity can do what Home Assistant does not say while it is away */
export function lostWhenAway(abilities: Abilities): Abilities {
  return Object.fromEntries(
    LOST.flatMap((name) => (abilities[name] === undefined ? [] : [[name, abilities[name]]])),
  );
}

/**
 * An entity that is away has lost some of its attributes, and keeps what it could do. A media player keeps it when it is switched off: many tell
 * of nothing but their switch then.
 * @param before what it could do before
 */
export function abilitiesOf(domain: string, state: EntityState, before?: Abilities): Abilities {
  const attributes =
    before !== undefined && !isTold(state) ? { ...state.attributes, ...before } : state.attributes;
  const names: readonly Ability[] = HAVE_MODE.includes(domain) ? [...ABILITIES, "mode"] : ABILITIES;
  const named = names.filter((name) => attributes[name] !== undefined && attributes[name] !== null);
  const now: Abilities = Object.fromEntries(named.map((name) => [name, attributes[name]]));
  if (domain !== "media_player" || before === undefined || !isTold(state)) return now;
  const features = Number(now.supported_features ?? 0) | Number(before.supported_features ?? 0);
  return { ...before, ...now, supported_features: features };
}
