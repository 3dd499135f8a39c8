/** Permissions for all harmless actions of a hosted device in their whole range: what the mode `allowed` means, one row for each action. */
import { wholeBounds } from "@edgecall/core/permissions/offered-bounds.ts";
import { LIFE_MAX_MS, type StandingPermission } from "@edgecall/core/permissions/permission.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import type { EndReason } from "../../api/permissions.ts";
import { type HostedDevice, hostedDevicesOf } from "../agents/hosted-devices.ts";
import { servedAgentsOf } from "../agents/served-agents.ts";
import type { HomeContext } from "../context.ts";
import { endPermission, endWhatIsOver } from "./ends.ts";
import { permissionsOf } from "./permission-store.ts";

type Allowed = { by: string; how: StandingPermission["how"]; since: number | null };

/** @returns false: there is no room for all of them */
export function allowWhole(home: HomeContext, device: HostedDevice, { by, how, since }: Allowed): boolean {
  const now = Date.now();
  hostedDevicesOf(home).allowedByHash(device);
  const missing = harmlessOf(home, device).filter((advert) => !isWhole(home, device, advert, now));
  return missing.every(({ name, parameters }) => {
    const bounds = wholeBounds(parameters);
    if (!bounds) return true;
    const permission: StandingPermission = {
      id: crypto.randomUUID(),
      device: device.id,
      key: device.hosted.key,
      version: device.hosted.allow,
      actions: { [name]: bounds },
      who: "everybody",
      conversation: null,
      channels: null,
      tainted: false,
      chain: false,
      hours: null,
      until: now + LIFE_MAX_MS,
      by,
      how,
      question: null,
      at: now,
    };
    return permissionsOf(home).add(permission, since);
  });
}

/** @returns the names of the actions that change something: those of which `allowWhole` writes a permission, and those that ask all the same */
export function sortedActions(home: HomeContext, device: HostedDevice): { acts: string[]; asks: string[] } {
  const adverts = servedAgentsOf(home).targetOfDevice(device.id, Date.now())?.adverts ?? [];
  const harmless = harmlessOf(home, device).filter(({ parameters }) => wholeBounds(parameters) !== undefined);
  const acts = harmless.map(({ name }) => name);
  const asks = adverts.filter(({ name, effect }) => effect !== "read" && !acts.includes(name));
  return { acts, asks: asks.map(({ name }) => name) };
}

/** True if nobody of the home is asked about a harmless action of the device. One whose range cannot be said asks all the same. */
export function isWholeAllowed(home: HomeContext, device: HostedDevice): boolean {
  const now = Date.now();
  const sayable = harmlessOf(home, device).filter(({ parameters }) => wholeBounds(parameters) !== undefined);
  return sayable.length > 0 && sayable.every((advert) => isWhole(home, device, advert, now));
}

/** Ends all permissions of the device. */
export function endOfDevice(
  home: HomeContext,
  { hosted }: Pick<HostedDevice, "hosted">,
  why: EndReason,
  by?: AuditLine["caller"],
): void {
  for (const { permission } of permissionsOf(home).open(hosted.key))
    endPermission(home, permission.id, why, by);
}

function harmlessOf(home: HomeContext, device: HostedDevice): readonly ActionAdvert[] {
  const adverts = servedAgentsOf(home).targetOfDevice(device.id, Date.now())?.adverts ?? [];
  return adverts.filter(({ effect, danger, setting }) => effect !== "read" && !danger && !setting);
}

function isWhole(home: HomeContext, { hosted }: HostedDevice, advert: ActionAdvert, now: number): boolean {
  const bounds = JSON.stringify(wholeBounds(advert.parameters));
  return endWhatIsOver(home, now, hosted.key).some(
    ({ permission: { actions, version, who, hours, channels, conversation } }) =>
      version === hosted.allow &&
      who === "everybody" &&
      hours === null &&
      channels === null &&
      conversation === null &&
      Object.hasOwn(actions, advert.name) &&
      JSON.stringify(actions[advert.name]) === bounds,
  );
}
