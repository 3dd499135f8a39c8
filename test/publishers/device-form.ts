/** ha-mqtt-device (PyPI): one device with a part of nearly every kind, in the device form of discovery (`device_form.py`). */
import { fileURLToPath } from "node:url";
import { PUBLISHERS } from "../needs.ts";
import { type Publisher, Running } from "./running.ts";

const SCRIPT = fileURLToPath(new URL("device_form.py", import.meta.url));

export type DeviceForm = Publisher & {
  /** Somebody rings its bell and shows a tag. */
  ring(): void;
};

export async function startDeviceForm(port: number): Promise<DeviceForm> {
  const running = new Running("ha-mqtt-device", () => ({ command: [PUBLISHERS, SCRIPT, String(port)] }));
  await running.ready(() => running.lines.includes("ready"));
  return {
    name: running.name,
    topics: /\/boiler-room-9\//,
    ring: () => running.tell("ring"),
    stop: () => running.stop(),
  };
}
