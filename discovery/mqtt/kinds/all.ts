/** The entity of a component, by its kind. */
import type { Component } from "../config/components.ts";
import type { MqttEntity } from "../entity/entity.ts";
import type { Prefixes } from "../topics/topics.ts";
import { alarm } from "./alarm.ts";
import { attributes } from "./attributes.ts";
import { climate, waterHeater } from "./climate.ts";
import { cover, valve } from "./cover.ts";
import { MqttDraft } from "./draft.ts";
import { deviceAutomation, event, tag } from "./events.ts";
import { fan, humidifier } from "./fan.ts";
import { date, datetime, numberEntity, select, text, time } from "./inputs.ts";
import { basicLight } from "./light/basic.ts";
import { jsonLight } from "./light/json.ts";
import { templateLight } from "./light/template.ts";
import { lock } from "./lock.ts";
import { button, scene } from "./momentary.ts";
import { camera, image } from "./pictures.ts";
import { binarySensor, sensor } from "./sensor.ts";
import { siren } from "./siren.ts";
import { switchEntity } from "./switch.ts";
import { update } from "./update.ts";
import { lawnMower, vacuum } from "./vacuum.ts";

const KINDS: Readonly<Record<string, (draft: MqttDraft) => void>> = {
  alarm_control_panel: alarm,
  binary_sensor: binarySensor,
  button,
  camera,
  climate,
  cover,
  date,
  datetime,
  device_automation: deviceAutomation,
  event,
  fan,
  humidifier,
  image,
  lawn_mower: lawnMower,
  light,
  lock,
  number: numberEntity,
  scene,
  select,
  sensor,
  siren,
  switch: switchEntity,
  tag,
  text,
  time,
  update,
  vacuum,
  valve,
  water_heater: waterHeater,
};

/** Kinds that are only read. */
const READ_ONLY = [
  "binary_sensor",
  "camera",
  "device_automation",
  "event",
  "image",
  "sensor",
  "tag",
  "update",
];

/** Kinds that take commands. */
export const COMMANDED_KINDS: readonly string[] = Object.keys(KINDS).filter(
  (kind) => !READ_ONLY.includes(kind),
);

/** Kinds that are known and not offered. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  device_tracker: "where somebody is, is not told",
  infrared: "infrared codes are not sent",
  notify: "messages are not sent by devices",
};

/** @returns undefined for a kind that is not known */
export function entityOf(component: Component, prefixes: Prefixes): MqttEntity | undefined {
  const draft = new MqttDraft(component, prefixes);
  const { kind } = component;
  if (Object.hasOwn(NOT_OFFERED, kind)) draft.leave("", NOT_OFFERED[kind] ?? "");
  else if (Object.hasOwn(KINDS, kind)) {
    KINDS[kind]?.(draft);
    attributes(draft);
  } else return undefined;
  return draft.finish();
}

function light(draft: MqttDraft): void {
  const schema = draft.text("schema") ?? "basic";
  if (schema === "json") jsonLight(draft);
  else if (schema === "template") templateLight(draft);
  else basicLight(draft);
}
