/** The configs and states that real publishers sent (test/cases/discovery.json): each is read, alone and with all others. */

import { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import { refusedParts } from "@edgecall/core/testkit/model-schema.ts";
import { schemaForModels } from "@edgecall/core/tools/schema-for-models.ts";
import { describe, expect, test } from "vitest";
import type { DeviceCatalog } from "./catalog.ts";
import { type HostedDevice, LINE_MAX } from "./model/device.ts";
import { CASES, NOW, newCatalog } from "./testkit/device-cases.ts";

function everything(): DeviceCatalog {
  const catalog = newCatalog();
  for (const { topic, payload } of CASES.configs) catalog.mqtt.config(topic, JSON.stringify(payload), NOW);
  return catalog;
}

function told(catalog: DeviceCatalog, { id, actions, notOffered }: HostedDevice) {
  const offered = catalog.readings(id, NOW).map(({ name }) => name);
  return {
    actions: actions.flatMap(({ name }) => (name === "read" ? [] : [name])),
    danger: actions.filter(({ danger }) => danger).map(({ name }) => name),
    readings: offered,
    aside: catalog
      .readings(id, NOW, true)
      .slice(offered.length)
      .map(({ name }) => name),
    not_offered: notOffered.map(({ what, why }) => `${what}: ${why}`),
  };
}

describe("each config alone", () => {
  test.each(CASES.configs.map((one) => [one.topic, one] as const))(
    "%s",
    (topic, { payload, expect: wanted }) => {
      const catalog = newCatalog();
      expect(catalog.mqtt.config(topic, JSON.stringify(payload), NOW)).toBe(true);
      const [device, ...others] = catalog.devices(NOW);
      expect(others).toEqual([]);
      expect(device && { device: device.name, ...told(catalog, device) }).toEqual(wanted);
      expect(catalog.counts().ignored).toEqual([]);
    },
  );
});

test("all of them together are these devices", () => {
  const catalog = everything();
  const devices = catalog.devices(NOW).map((device) => {
    const { id, name, area, publisher, line } = device;
    return { id, name, area, publisher, line, ...told(catalog, device) };
  });
  expect(devices).toEqual(CASES.devices.map((one) => ({ area: undefined, publisher: undefined, ...one })));
  expect(catalog.counts()).toEqual({ configs: 61, ignored: [] });
});

test("what is told of each device is within the bounds of the wire, and its schemas are closed", () => {
  for (const { line, actions, name, notOffered } of everything().devices(NOW)) {
    expect(line.length).toBeLessThanOrEqual(LINE_MAX);
    expect(line + name).not.toMatch(/[\n\r]/);
    expect(notOffered.length).toBeLessThanOrEqual(20);
    expect(new Set(actions.map((action) => action.name)).size).toBe(actions.length);
    for (const action of actions) {
      expect(check(ActionAdvert, action)).toMatchObject({ ok: true });
      expect(action.parameters).toMatchObject({ type: "object", additionalProperties: false });
      // A model is shown all of its parameters.
      const shown = schemaForModels(action.parameters);
      expect(refusedParts(shown)).toEqual([]);
      expect(Object.keys(shown.properties)).toEqual(Object.keys(action.parameters.properties ?? {}));
    }
  }
});

test("the states of all of them are read", () => {
  const catalog = everything();
  for (const { topic, payload, retained } of CASES.states) {
    expect(catalog.mqtt.topics().has(topic), topic).toBe(true);
    catalog.mqtt.state(topic, payload, { now: NOW, retained });
  }
  const texts = (id: string) =>
    Object.fromEntries(catalog.readings(id, NOW + 1_000, true).map(({ name, text }) => [name, text]));
  expect(texts("freezer")).toEqual({ temperature: "21.85 °C", battery: "unknown", Linkquality: "99 lqi" });
  expect(texts("garden-gate")).toEqual({ door: "closed" });
  expect(texts("bedroom-blind")).toEqual({ cover: "open", position: "60 %" });
  expect(texts("home-thermostat")).toEqual({
    climate: "auto",
    "target temperature": "20.0 °C",
    temperature: "20.0 °C",
  });
  expect(texts("living-room-accent")).toEqual({ light: "off" });
  expect(texts("robot-vacuum")).toEqual({ vacuum: "docked" });
  expect(texts("front-door")).toEqual({ lock: "unlocked" });
  expect(texts("kitchen-leak")).toEqual({ moisture: "dry" });
  expect(texts("media-box")).toMatchObject({ "CPU Usage": "31.0 %", "Disk dev_vda": "unknown" });
  expect(texts("boiler-room-pi")).toMatchObject({ boiler_temp: "1.00 °C" });

  const online = catalog.devices(NOW + 1_000).filter((device) => device.online);
  expect(online.map(({ id }) => id)).toEqual([
    "bedroom-blind",
    "boiler-room",
    "coffee-machine",
    "freezer",
    "front-door",
    "garden-gate",
    "hallway-smoke",
    "home-thermostat",
    "kitchen-counter",
    "kitchen-leak",
    "living-room-accent",
    "nexus-th-1-90",
    "power-meter",
    "robot-vacuum",
  ]);
});

test("what the broker had kept has no age, and what came live has one", () => {
  const catalog = everything();
  for (const { topic, payload, retained } of CASES.states)
    catalog.mqtt.state(topic, payload, { now: NOW, retained });
  expect(catalog.read("power-meter", {}, NOW + 9_000)).toEqual({
    text: "power: 92 W (kept by the broker, age unknown)",
    tainted: false,
  });
  expect(catalog.read("freezer", {}, NOW + 9_000)).toEqual({
    text: "temperature: 21.85 °C (9 s ago)",
    tainted: false,
  });
});
