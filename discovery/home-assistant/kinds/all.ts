/** The entity of a registry entry, by its domain. */
import { type Abilities, abilitiesOf } from "../abilities.ts";
import type { HomeAssistantEntity } from "../entity.ts";
import type { Entry } from "../registry.ts";
import type { EntityState } from "../state.ts";
import { climate, fan, humidifier, waterHeater } from "./climate.ts";
import { cover, valve } from "./cover.ts";
import { HomeAssistantDraft } from "./draft.ts";
import { numberEntity, select, text } from "./inputs.ts";
import { light } from "./light.ts";
import { calendar, todo } from "./lists.ts";
import { alarm, lock } from "./lock.ts";
import { mediaPlayer } from "./media-player.ts";
import { button, event, notify, scene, script } from "./momentary.ts";
import { presence } from "./presence.ts";
import { camera, image, remote, sun } from "./read-only.ts";
import { lawnMower, vacuum } from "./robots.ts";
import { binarySensor, sensor } from "./sensor.ts";
import { siren, switchEntity } from "./switch.ts";
import { dateEntity, dateTimeEntity, inputDateTime, timeEntity, timer } from "./times.ts";
import { update } from "./update.ts";
import { weather } from "./weather.ts";

const KINDS: Readonly<Record<string, (draft: HomeAssistantDraft) => void>> = {
  alarm_control_panel: alarm,
  binary_sensor: binarySensor,
  button,
  calendar,
  camera,
  climate,
  cover,
  date: dateEntity,
  datetime: dateTimeEntity,
  device_tracker: presence,
  event,
  fan,
  humidifier,
  image,
  input_boolean: switchEntity,
  input_button: button,
  input_datetime: inputDateTime,
  input_number: numberEntity,
  input_select: select,
  input_text: text,
  lawn_mower: lawnMower,
  light,
  lock,
  media_player: mediaPlayer,
  notify,
  number: numberEntity,
  person: presence,
  remote,
  scene,
  script,
  select,
  sensor,
  siren,
  sun,
  switch: switchEntity,
  text,
  time: timeEntity,
  timer,
  todo,
  update,
  vacuum,
  valve,
  water_heater: waterHeater,
  weather,
};

/** They tell of people, so only those are given that an owner names: what Assist may use is no consent to that. */
export const OF_PEOPLE: readonly string[] = ["device_tracker", "person"];

/** Of a device that has an exposed entity, these others are told when a person wants all. */
export const READ_ONLY: readonly string[] = ["binary_sensor", "lock", "sensor"];

export function isKnownKind(domain: string): boolean {
  return Object.hasOwn(KINDS, domain);
}

/** @param before what it could do before, if that is known */
export function entityOf(entry: Entry, state: EntityState, before?: Abilities): HomeAssistantEntity {
  const draft = new HomeAssistantDraft(entry, abilitiesOf(entry.domain, state, before));
  KINDS[entry.domain]?.(draft);
  return draft.finish();
}
