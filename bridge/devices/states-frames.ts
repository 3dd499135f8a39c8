/** Makes the answer to Home's `states`: the readings of hosted devices, from memory, in frames of bounded size. */

import {
  DEVICES_A_FRAME_MAX,
  type DeviceReadings,
  LEFT_OUT_MAX,
  READINGS_MAX,
  type Reading,
} from "@edgecall/core/protocol/devices.ts";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { Reading as OwnReading } from "@edgecall/discovery/model/device.ts";
import type { HostedAgents } from "./hosted-agents.ts";

/** Home reads a frame at once, and is deaf meanwhile. */
const STATES_MAX_BYTES = 128 * 1024;

type StatesFrame = Extract<HomeFrame, { t: "states" }>;

/** @param now epoch ms */
export function statesFrames(
  { id, agents, all }: StatesFrame,
  catalog: Pick<DeviceCatalog, "readings" | "counts">,
  hosted: Pick<HostedAgents, "ids" | "state">,
  now: number,
): BridgeFrame[] {
  const groups: DeviceReadings[][] = [[]];
  let bytes = 0;
  for (const agent of new Set(agents ?? hosted.ids())) {
    const state = hosted.state(agent);
    if (!state) continue;
    const readings = catalog.readings(agent, now, all).slice(0, READINGS_MAX).map(bounded);
    const device = { id: agent, online: state.online, readings };
    const size = Buffer.byteLength(JSON.stringify(device));
    const isFull = groups.at(-1)?.length === DEVICES_A_FRAME_MAX || bytes + size > STATES_MAX_BYTES;
    if (bytes > 0 && isFull) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(device);
    bytes += size;
  }
  const { ignored } = catalog.counts();
  const left_out = ignored
    .slice(0, LEFT_OUT_MAX)
    .map(({ why, count }) => ({ why: cutText(why, 200), count }));
  return groups.map((devices, at) => {
    const last = at === groups.length - 1;
    return { t: "states", id, devices, last, ...(last && { left_out }) };
  });
}

/** One text that is too long must not cost Home the whole frame. */
function bounded({
  name,
  value,
  text,
  unit,
  kind,
  class: of,
  at,
  unavailable,
  tainted,
}: OwnReading): Reading {
  return {
    name: cutText(name, 100),
    value: boundedValue(value),
    text: cutText(text, 500),
    ...(unit !== undefined && { unit: unit.slice(0, 32) }),
    kind: kind.slice(0, 32),
    ...(of !== undefined && { class: of.slice(0, 64) }),
    at,
    ...(unavailable && { unavailable }),
    tainted,
  };
}

function boundedValue(value: OwnReading["value"]): Reading["value"] {
  if (typeof value === "string") return cutText(value, 500);
  return typeof value === "number" && !Number.isFinite(value) ? null : value;
}
