/**
 * Rights of calls to a hosted device. A device of the broker has no policy of its own, so Home is the one that refuses, and that asks
 * a person before it sends a change. Reads are free. The rules are in this file alone, so that they can be reviewed alone.
 */

import { IS_SETTING } from "@edgecall/core/protocol/devices.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Advised } from "@edgecall/core/tools/advice.ts";
import { type HostedDevice, hostedDevicesOf } from "../agents/hosted-devices.ts";
import type { HomeContext } from "../context.ts";
import { modeOf } from "../devices/device-mode.ts";
import { isAllowed } from "../devices/device-settings.ts";
import { featuresOf } from "../feature.ts";
import type { Asker, LedgerCall } from "../ledger/ledger.ts";
import { permissionsOf } from "../permissions/permission-store.ts";
import { stillHolds } from "../permissions/standing.ts";

/**
 * @property device for the call's row: the hash that the decision holds for @property isDangerous no permission covers it
 * @property reasons for a person beside that it is a change
 */
export type Permission =
  | { ok: true; device: NonNullable<LedgerCall["flags"]["device"]>; reasons: string[]; isDangerous: boolean }
  | ({ ok: false } & Advised);

/** Why a person is asked, where there is no other reason. */
export const IS_CHANGE = "it changes this device";

/** Characters of why an action is dangerous. */
const WHY_MAX = 80;

/** True if a person allowed what the device was then, and it is something else now. */
export function hasChanged(home: HomeContext, { hosted, setting }: HostedDevice): boolean {
  if (setting?.allow != null && !isAllowed(setting.allow, hosted)) return true;
  return permissionsOf(home).changed(hosted.key) !== undefined;
}

/** @returns the words about a device that is switched off; undefined: it is not */
export function offText(device: HostedDevice | undefined): Advised | undefined {
  if (!device || modeOf(device) !== "off") return undefined;
  return refused(`Device '${device.id}' is switched off in the console.`);
}

/** The refusal of an action that changes a setting, of a device that offers none. */
export function hiddenSetting({ id }: HostedDevice, action: string): Permission {
  const words = refused(
    `'${action}' changes a setting of device '${id}', and a person has to offer its settings in the console first.`,
  );
  return { ok: false, ...words };
}

/** @returns undefined: it is a read */
export function permissionFor(
  home: HomeContext,
  device: HostedDevice,
  advert: ActionAdvert | undefined,
): Permission | undefined {
  if (advert?.effect === "read") return undefined;
  const { id, hosted } = device;
  const mode = modeOf(device);
  if (mode === "off" || mode === "read") {
    const words =
      offText(device) ??
      refused(`Device '${id}' may only be read, until a person allows changes in the console.`);
    return { ok: false, ...words };
  }
  const why = cutText(advert?.danger_why ?? "it may do harm", WHY_MAX);
  const isDangerous = advert?.danger === true;
  const reasons = [
    ...(hasChanged(home, device)
      ? ["changed since you allowed it: its actions, or what they send, are others now"]
      : []),
    ...(isDangerous ? [why === IS_SETTING ? why : `dangerous: ${why}`] : []),
  ];
  if (advert?.retained) reasons.push("its broker repeats this command when the device comes back");
  return { ok: true, device: { allow: hosted.allow }, reasons, isDangerous };
}

/**
 * A change waited for a person, or for the bridge. It goes on only if the device is what it was then, and may still be changed.
 * @returns the reason why not
 */
export function outdated(home: HomeContext, call: LedgerCall): Advised | undefined {
  return ofStoppedRule(home, call.asker) ?? ofOtherDevice(home, call);
}

/** A rule's step is not wanted any more once the rule is stopped, or is another version. */
export function ofStoppedRule(home: HomeContext, asker: Asker | null | undefined): Advised | undefined {
  const isWanted =
    asker?.by !== "rule" || featuresOf(home).some(({ hasAsker }) => hasAsker?.(home, asker) === true);
  return isWanted ? undefined : refused("The rule that asks for it was stopped meanwhile.");
}

function ofOtherDevice(home: HomeContext, { agent, payload, flags }: LedgerCall): Advised | undefined {
  if (!flags.device) return undefined;
  const device = hostedDevicesOf(home).get(agent);
  if (!device || !isAllowed(flags.device.allow, device.hosted))
    return refused(
      `Device '${agent}' has changed meanwhile: its actions, or what they send, are others now.`,
    );
  const mode = modeOf(device);
  if (mode === "off" || mode === "read" || hostedDevicesOf(home).isHiddenSetting(agent, String(payload.tool)))
    return refused(`Device '${agent}' may not be changed any more.`);
  const permission = flags.approved?.permission;
  return permission !== undefined && !stillHolds(home, permission, Date.now())
    ? refused(`The permission by which device '${agent}' was to be changed has ended.`)
    : undefined;
}

function refused(why: string): Advised {
  return {
    text: `Error: ${why} Nothing was run.`,
    advice: "Explain this to the user; do not try it another way.",
  };
}
