/** Readings of devices, as a bridge tells them. */
import type { Reading } from "@edgecall/core/protocol/devices.ts";

export function readingOf(name: string, value: Reading["value"], more: Partial<Reading> = {}): Reading {
  return { name, value, text: `${value}`, kind: "sensor", at: 0, tainted: false, ...more };
}

export function batteryOf(percent: number): Reading {
  return readingOf("Battery", percent, { text: `${percent} %`, unit: "%", class: "battery" });
}
