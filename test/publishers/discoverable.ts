/** ha-mqtt-discoverable (PyPI): a box with parts of many kinds, or a fleet of lamps and switches (`discoverable.py`). */
import { fileURLToPath } from "node:url";
import { PUBLISHERS } from "../needs.ts";
import { type Publisher, Running } from "./running.ts";

const SCRIPT = fileURLToPath(new URL("discoverable.py", import.meta.url));

/**
 * Its answer to a command: it does it and reports it; it is said to be away; it is said to be there and does not answer; it answers, but
 * stays as it was; it does not report at all, and says so.
 */
export type Behaviour = "works" | "unavailable" | "silent" | "stuck" | "optimistic";

export type FleetDevice = { id: string; name: string; kind: "light" | "switch"; behaviour: Behaviour };

export type Discoverable = Publisher & {
  setOnline(name: string, online: boolean): void;
  /** The part reports a value by itself: a binary sensor true or false, the camera its picture. */
  report(name: string, value: boolean | number | string): void;
};

export async function startBox(port: number): Promise<Discoverable> {
  return await start(new Running("ha-mqtt-discoverable", () => ({ command: command(port, "box") })));
}

export async function startFleet(port: number, devices: readonly FleetDevice[]): Promise<Discoverable> {
  const running = new Running("ha-mqtt-discoverable", () => ({ command: command(port, "fleet") }));
  running.tell(devices);
  return await start(running);
}

const command = (port: number, what: string) => [PUBLISHERS, SCRIPT, String(port), what];

async function start(running: Running): Promise<Discoverable> {
  await running.ready(() => running.lines.includes("ready"));
  return {
    name: running.name,
    topics: /\/Workshop-box\//,
    setOnline: (name, online) => running.tell({ name, online }),
    report: (name, value) => running.tell({ name, value }),
    stop: () => running.stop(),
  };
}
