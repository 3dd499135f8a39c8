/** What a permission is bound to: a device's key, and the version of what it does when it is told an action. */
import { actionVersion } from "@edgecall/core/permissions/action-version.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { keysOf } from "../agents/agent-keys.ts";
import { type HostedDevice, hostedDevicesOf } from "../agents/hosted-devices.ts";
import { servedAgentsOf } from "../agents/served-agents.ts";
import type { HomeContext } from "../context.ts";

/** @property version of the action; undefined: it is not known yet (`prepareVersion`), or there is no such action */
export type BoundDevice = {
  id: string;
  key: string;
  version: string | undefined;
  advert: ActionAdvert | undefined;
  hosted: HostedDevice | undefined;
};

/** Hashes of adverts, which are computed ahead: a call is judged and stored without a pause between. */
const versions = new WeakMap<ActionAdvert, string>();

/** @returns undefined: the agent has no key, so no permission can be bound to it */
export function boundDevice(home: HomeContext, agent: string, action: unknown): BoundDevice | undefined {
  const { advert } = servedAgentsOf(home).advertOf(agent, action);
  const hosted = hostedDevicesOf(home).get(agent);
  if (hosted) {
    const { key, allow } = hosted.hosted;
    return { id: agent, key, version: allow, advert, hosted };
  }
  const key = keysOf(home).publicKeyOf(agent);
  if (key === undefined) return undefined;
  return { id: agent, key, version: advert && versions.get(advert), advert, hosted: undefined };
}

/** Computes the version of a paired agent's action, for `boundDevice`. */
export async function prepareVersion(home: HomeContext, agent: string, action: unknown): Promise<void> {
  const { advert } = servedAgentsOf(home).advertOf(agent, action);
  if (!advert || versions.has(advert) || hostedDevicesOf(home).get(agent)) return;
  versions.set(advert, await actionVersion(advert));
}
