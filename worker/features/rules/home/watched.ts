/** The devices that watches are about, by their keys: a rename changes nothing. */

import { ENGLISH, type Phrases } from "@edgecall/core/phrases/phrases.ts";
import { RULES_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import { type Parsed, wrong } from "@edgecall/core/protocol/parse.ts";
import type { ReadingOption, WatchedDevice } from "@edgecall/core/rules/make-watch.ts";
import { optionOf } from "@edgecall/core/rules/reading-option.ts";
import type { WatchRule, WatchSource } from "@edgecall/core/rules/watch-rule.ts";
import { nameOfKey } from "../../../kernel/home/agents/agent-keys.ts";
import { agentRowsOf } from "../../../kernel/home/agents/agent-rows.ts";
import { hostedDevicesOf } from "../../../kernel/home/agents/hosted-devices.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { agentReadings } from "../../../kernel/home/calls/agent-readings.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { deviceStatesOf } from "../../../kernel/home/devices/device-states.ts";

/** The name by which a model means the bridge. */
const BRIDGE = "bridge";

/** @returns undefined: there is no such device */
export function watchedDevice(home: HomeContext, id: string): WatchedDevice | undefined {
  if (id === BRIDGE) return { name: "The home's bridge", source: { of: "bridge" }, readings: [] };
  if (!agentRowsOf(home).has(id)) return undefined;
  const device = hostedDevicesOf(home).get(id);
  if (device) {
    const name = device.setting?.name ?? device.hosted.name;
    return { name, source: { of: "hosted", key: device.hosted.key }, readings: [] };
  }
  return { name: id, source: { of: "agent", key: nameOfKey(home, id) }, readings: [] };
}

/** For a model, of hosted devices. */
const NO_RULES_AT_BRIDGE = ENGLISH.say("bridgeHasNoRules");

/**
 * Asks the device, or the bridge for a hosted one, what it can watch.
 * @param reading the one that is meant: an agent need not read all others
 */
export async function readingsOf(
  home: HomeContext,
  id: string,
  reading: string,
): Promise<Parsed<ReadingOption[]>> {
  const now = Date.now();
  if (hostedDevicesOf(home).get(id)) {
    if (bridgeOf(home).isConnected(now) && !bridgeOf(home).has(RULES_FEATURE, now))
      return wrong(`agent_id: ${NO_RULES_AT_BRIDGE}`);
    const heard = (await deviceStatesOf(home).ask([id], true))?.get(id);
    return heard
      ? { ok: true, value: heard.readings.map(optionOf) }
      : wrong(`agent_id: the home's bridge does not answer now, so the readings of '${id}' are not known`);
  }
  return await agentReadings(home, id, reading);
}

/** The id by which it is known now; undefined: it was forgotten, or its key was revoked. */
export function agentOf(home: HomeContext, source: WatchSource): string | undefined {
  if (source.of === "bridge") return undefined;
  const isHosted = source.of === "hosted" || (source.of === "presence" && source.device === "hosted");
  if (isHosted)
    return hostedDevicesOf(home)
      .all()
      .find(({ hosted }) => hosted.key === source.key)?.id;
  const ids = agentRowsOf(home)
    .ids()
    .filter((id) => nameOfKey(home, id) === source.key);
  // A device that was given another id may be on the list under both.
  return ids.find((id) => servedAgentsOf(home).isOnline(id, Date.now())) ?? ids[0];
}

/** The device, as people call it. */
export function placeOf(home: HomeContext, { source }: WatchRule, phrases: Phrases): string {
  if (source.of === "bridge") return phrases.say("theBridge");
  const id = agentOf(home, source);
  const device = id === undefined ? undefined : hostedDevicesOf(home).get(id);
  if (!device) return id ?? phrases.say("goneDevice");
  const { hosted, setting } = device;
  const area = setting?.area ?? hosted.area;
  return [setting?.name ?? hosted.name, ...(area ? [area] : [])].join(", ");
}

/** True if the device is one of the broker's that offers changes: those may be made from here. */
export function canChange(home: HomeContext, { source }: WatchRule, now: number): boolean {
  const id = source.of === "hosted" ? agentOf(home, source) : undefined;
  const target = id === undefined ? undefined : servedAgentsOf(home).target(id, now);
  return target?.adverts.some(({ effect }) => effect !== "read") ?? false;
}
