/** The actions of the demo home's devices, as discovery makes them of what the house publishes. */
import { createHash } from "node:crypto";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { DeviceCatalog } from "../../discovery/catalog.ts";
import { DEVICES } from "../../local/demo/house.ts";
import { esphome } from "../../local/demo/publishers/esphome.ts";
import { devicesOf, type ProgramParts } from "../../local/demo/publishers/program.ts";
import { tasmota } from "../../local/demo/publishers/tasmota.ts";
import { zigbee2mqtt } from "../../local/demo/publishers/zigbee2mqtt.ts";
import { HARMLESS } from "./workload.ts";

const NOW = Date.UTC(2026, 10, 1);

/** @returns the actions by the device's name, of those that the workload changes */
export function demoAdverts(): Record<string, readonly ActionAdvert[]> {
  const catalog = new DeviceCatalog({
    prefix: "homeassistant",
    ownPrefix: "evoclaw",
    sha256: (text) => createHash("sha256").update(text).digest("hex"),
  });
  const parts: ProgramParts = {
    say(topic, payload) {
      const text = typeof payload === "string" ? payload : JSON.stringify(payload);
      if (topic.endsWith("/config")) catalog.mqtt.config(topic, text, NOW);
      else catalog.mqtt.state(topic, text, { now: NOW, retained: false });
    },
    get: (name) => DEVICES.find((device) => device.name === name)?.starts ?? {},
    command: () => {},
    now: () => NOW,
  };
  for (const [publisher, make] of [
    ["zigbee2mqtt", zigbee2mqtt],
    ["esphome", esphome],
    ["tasmota", tasmota],
  ] as const) {
    const program = make(parts);
    program.announce();
    for (const device of devicesOf(publisher)) program.report(device, "asked");
  }
  const wanted = new Set([...Object.keys(HARMLESS), "Front door"]);
  const made = catalog.devices(NOW).filter(({ name }) => wanted.has(name));
  return Object.fromEntries(made.map(({ name, actions }) => [name, actions]));
}
