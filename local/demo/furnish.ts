/** What a person decides about the devices of a new home, in the console or over HTTP: their names, their rooms, and what may be done. */
import { setTimeout } from "node:timers/promises";
import { DEVICES, type DemoDevice } from "./house.ts";
import { slug } from "./publishers/program.ts";
import { radioName } from "./publishers/rtl-433.ts";

/** A bridge knows 35 devices within a second; a busy machine needs more. */
const KNOWN_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 200;

type Access = { url: string; token: string };
/** Of `GET /v1/devices`. `chosen`: a person has decided about `mode`. `changed`: it is another device since it was allowed. */
type Listed = {
  id: string;
  name: string;
  area: string | null;
  own: { name: string | null; area: string | null };
  online: boolean;
  chosen: boolean;
  changed: boolean;
  allow: string;
};

/**
 * Names the devices of the demo home, puts them into their rooms, and allows their changes. A lock stays as the gateway has it: it asks.
 * What a person has decided meanwhile stays.
 * @throws when they are not all known and online within 30 s
 */
export async function furnish(access: Access, signal?: AbortSignal): Promise<void> {
  const end = performance.now() + KNOWN_WITHIN_MS;
  const left = new Set(DEVICES);
  while (left.size > 0) {
    const listed = await list(access);
    for (const device of left) {
      const known = listed.find(({ id }) => id === slug(publishedName(device), "-"));
      if (!known?.online) continue;
      await decide(access, device, known);
      left.delete(device);
    }
    if (left.size === 0) return;
    if (performance.now() > end) {
      const names = [...left].map(({ name }) => name).join(", ");
      throw new Error(`the bridge does not know these devices of the demo home: ${names}`);
    }
    await setTimeout(LOOK_EVERY_MS, undefined, signal && { signal });
  }
}

/** The name that its publisher gives it. */
function publishedName(device: DemoDevice): string {
  return device.publisher === "rtl_433" ? radioName(device) : device.name;
}

async function list(access: Access): Promise<Listed[]> {
  const { devices } = (await request(access, "/v1/devices")) as { devices: Listed[] };
  return devices;
}

async function decide(access: Access, device: DemoDevice, known: Listed): Promise<void> {
  const change = {
    ...(known.own.name === null && known.name !== device.name && { name: device.name }),
    ...(known.own.area === null && known.area !== device.room && { area: device.room }),
    ...(device.kind !== "lock" &&
      (!known.chosen || known.changed) && { mode: "allowed", allow: known.allow }),
  };
  if (Object.keys(change).length > 0)
    await request(access, `/v1/devices/${known.id}`, { method: "PATCH", body: JSON.stringify(change) });
}

async function request({ url, token }: Access, path: string, init: RequestInit = {}): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { ...init, headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}
