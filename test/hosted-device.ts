/** Devices as a bridge hosts them, for tests of Home. */
import {
  type DeviceReadings,
  HOSTED_FEATURE,
  HOSTED_TYPE,
  type HostedState,
  type Reading,
} from "@edgecall/core/protocol/devices.ts";
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { TestBridge } from "./workerd.ts";

export const READ: ActionAdvert = {
  name: "read",
  description: "Its readings",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  effect: "read",
  idempotent: true,
};

export const SET: ActionAdvert = {
  name: "set",
  description: "Switch it on or off",
  parameters: {
    type: "object",
    properties: { on: { type: "boolean" }, brightness_pct: { type: "integer", minimum: 1, maximum: 100 } },
    additionalProperties: false,
  },
  effect: "device",
  idempotent: true,
  timeout_ms: 15_000,
};

export const UNLOCK: ActionAdvert = {
  ...SET,
  name: "unlock",
  description: "Unlock it",
  danger: true,
  danger_why: "it moves a lock",
};

type More = Partial<Omit<AgentState, "tools" | "hosted">> & {
  line?: string;
  tools?: readonly ActionAdvert[];
  hosted?: Partial<HostedState>;
};

/** @param id also makes its name: kitchen-lamp is "Kitchen lamp" */
export function device(id: string, more: More = {}): AgentState {
  const { line = "light (brightness)", tools = [READ, SET], hosted, ...rest } = more;
  const name = `${id.charAt(0).toUpperCase()}${id.slice(1).replaceAll("-", " ")}`;
  return {
    id,
    online: true,
    last_seen: Date.now(),
    foreign: false,
    capabilities: JSON.stringify({
      agent_id: id,
      capabilities: line,
      agent_type: HOSTED_TYPE,
      features: [HOSTED_FEATURE],
    }),
    tools: JSON.stringify({ hash: "h", tools }),
    ...rest,
    hosted: { key: `key-of-${id}`, allow: `allow-${id}`, mode: "allow", name, ...hosted },
  };
}

export function reading(name: string, value: Reading["value"], more: Partial<Reading> = {}): Reading {
  return {
    name,
    value,
    text: `${value}${more.unit === undefined ? "" : ` ${more.unit}`}`,
    kind: "sensor",
    at: Date.now() - 180_000,
    tainted: false,
    ...more,
  };
}

export function reported(id: string, ...readings: Reading[]): DeviceReadings {
  return { id, online: true, readings };
}

/** A bridge that hosts devices. */
export async function hosting(states: readonly AgentState[], atOnce = 50): Promise<TestBridge> {
  const bridge = await TestBridge.dial();
  await bridge.hello(["devices", "kept"]);
  for (let at = 0; at === 0 || at < states.length; at += atOnce)
    bridge.send({
      t: "snapshot",
      agents: states.slice(at, at + atOnce),
      last: at + atOnce >= states.length,
    });
  await bridge.snapshotStored();
  return bridge;
}
