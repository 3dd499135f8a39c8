/** The entity of a registry entry, by its domain. */
import type { HomeAssistantEntity } from "../entity.ts";
import type { Entry } from "../registry.ts";
import type { EntityState } from "../state.ts";
import { climate, fan, humidifier, waterHeater } from "./climate.ts";
import { cover, valve } from "./cover.ts";
import { abilitiesOf, HomeAssistantDraft } from "./draft.ts";
import { numberEntity, select, text } from "./inputs.ts";
import { light } from "./light.ts";
import { alarm, lock } from "./lock.ts";
import { button, scene } from "./momentary.ts";
import { lawnMower, vacuum } from "./robots.ts";
import { binarySensor, sensor } from "./sensor.ts";
import { siren, switchEntity } from "./switch.ts";

/** Where somebody is (`person`, `device_tracker`) is not told. */
const KINDS: Readonly<Record<string, (draft: HomeAssistantDraft) => void>> = {
  alarm_control_panel: alarm,
  binary_sensor: binarySensor,
  button,
  climate,
  cover,
  fan,
  humidifier,
  input_boolean: switchEntity,
  input_button: button,
  input_number: numberEntity,
  input_select: select,
  input_text: text,
  lawn_mower: lawnMower,
  light,
  lock,
  number: numberEntity,
  scene,
  select,
  sensor,
  siren,
  switch: switchEntity,
  text,
  vacuum,
  valve,
  water_heater: waterHeater,
};

/** Of a device that has an exposed entity, these others are told when a person wants all. */
export const READ_ONLY: readonly string[] = ["binary_sensor", "sensor"];

export function isKnownKind(domain: string): boolean {
  return Object.hasOwn(KINDS, domain);
}

export function entityOf(entry: Entry, state: EntityState): HomeAssistantEntity {
  const draft = new HomeAssistantDraft(entry, abilitiesOf(state));
  KINDS[entry.domain]?.(draft);
  return draft.finish();
}
