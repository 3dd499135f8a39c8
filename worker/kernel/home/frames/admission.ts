/**
 * Which of the bridge's hosted devices get their place among the agents. Their ids follow from names that anybody on the broker
 * can choose, so an id that means something else here is refused, and settings and grants that name it are not the device's.
 */

import { DEVICES_FEATURE, DEVICES_MAX } from "@edgecall/core/protocol/devices.ts";
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import { isReservedId } from "@edgecall/core/protocol/names.ts";
import { logInfo } from "../../log.ts";
import { keysOf } from "../agents/agent-keys.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import { servedAgentsOf } from "../agents/served-agents.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import type { HomeContext } from "../context.ts";
import { featuresOf } from "../feature.ts";

const GROUP_NAME = "a name for many agents: it needs another id";

/** @returns false: the state counts for nothing */
export function admits(home: HomeContext, state: AgentState): boolean {
  const why = refusalOf(home, state);
  if (why !== undefined) logInfo("device.refused", { agent: state.id, why });
  return why === undefined;
}

function refusalOf(home: HomeContext, { id, hosted }: AgentState) {
  const keys = keysOf(home);
  const before = hostedDevicesOf(home).get(id);
  // A stranger at the broker takes no device's place. An agent that this home serves does.
  if (!hosted) {
    if (before && !keys.serves(id)) return "no agent of this home";
    // One with a key was refused the name when it was paired.
    const isTaken = keys.standing(id) === "none" && servedAgentsOf(home).isGroup(id);
    return isTaken ? GROUP_NAME : undefined;
  }
  const now = Date.now();
  if (!bridgeOf(home).has(DEVICES_FEATURE, now)) return "the bridge did not say that it hosts devices";
  if (keys.standing(id) !== "none") return "the id of an agent with a key";
  if (before?.hosted.key === hosted.key) return undefined;
  if (keys.isLetIn(id) || (!before && servedAgentsOf(home).has(id))) return "the id of an agent";
  if (isReservedId(id) || servedAgentsOf(home).isGroup(id)) return GROUP_NAME;
  if (featuresOf(home).some((feature) => feature.claimsId?.(home, id, now))) return "a lent id";
  if (!before && hostedDevicesOf(home).all().length >= DEVICES_MAX) return `${DEVICES_MAX} devices are there`;
  return undefined;
}
