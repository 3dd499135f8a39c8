/**
 * Rights of calls to a hosted device. A device of the broker has no policy of its own, so Home is the one that refuses, and that asks
 * a person before it sends a change. Reads are free. The rules are in this file alone, so that they can be reviewed alone.
 */

import { IS_SETTING } from "@edgecall/core/protocol/devices.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Advised } from "@edgecall/core/tools/advice.ts";
import type { DeviceMode } from "../../api/devices.ts";
import { type HostedDevice, hostedDevicesOf } from "../agents/hosted-devices.ts";
import type { HomeContext } from "../context.ts";
import { isAllowed } from "../devices/device-settings.ts";
import type { LedgerCall } from "../ledger/ledger.ts";

/**
 * @property device for the call's row: the hash that the decision holds for; `remember`: a person's yes allows the device's other
 * changes too @property reasons for a person; none: nobody is asked
 */
export type Permission =
  | { ok: true; device: NonNullable<LedgerCall["flags"]["device"]>; reasons: string[] }
  | ({ ok: false } & Advised);

/** Characters of why an action is dangerous. */
const WHY_MAX = 80;

/** The device's mode: as a person set it, or else as the bridge's setting MQTT_DEVICES says. */
export function modeOf({ hosted, setting }: HostedDevice): DeviceMode {
  const mode = setting?.mode ?? (hosted.mode === "read" ? "read" : "ask");
  return mode === "ask" && isAllowed(setting?.allow, hosted) ? "allowed" : mode;
}

/** True if a person allowed what the device was then, and it is something else now. */
export function hasChanged({ hosted, setting }: HostedDevice): boolean {
  return setting?.allow != null && !isAllowed(setting.allow, hosted);
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

/** @param tainted a stranger's text may have led to the call: a yes is for this call alone @returns undefined: it is a read */
export function permissionFor(
  device: HostedDevice,
  advert: ActionAdvert | undefined,
  tainted: boolean,
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
  const reasons: string[] = [];
  const isFirst = mode === "ask";
  const isDanger = advert?.danger === true;
  if (hasChanged(device))
    reasons.push("changed since you allowed it: its actions, or what they send, are others now");
  else if (isFirst) reasons.push("first change of this device");
  const why = cutText(advert?.danger_why ?? "it may do harm", WHY_MAX);
  if (isDanger) reasons.push(why === IS_SETTING ? why : `dangerous: ${why}`);
  const remember = isFirst && !isDanger && !tainted;
  if (remember) reasons.push("with your yes its other changes are not asked about, but for dangerous ones");
  if (advert?.retained && (reasons.length > 0 || tainted))
    reasons.push("its broker repeats this command when the device comes back");
  return { ok: true, device: { allow: hosted.allow, ...(remember && { remember }) }, reasons };
}

/**
 * A change waited for a person, or for the bridge. It goes on only if the device is what it was then, and may still be changed.
 * @returns the reason why not
 */
export function outdated(home: HomeContext, { agent, payload, flags }: LedgerCall): Advised | undefined {
  if (!flags.device) return undefined;
  const device = hostedDevicesOf(home).get(agent);
  if (!device || !isAllowed(flags.device.allow, device.hosted))
    return refused(
      `Device '${agent}' has changed meanwhile: its actions, or what they send, are others now.`,
    );
  const mode = modeOf(device);
  return mode === "off" ||
    mode === "read" ||
    hostedDevicesOf(home).isHiddenSetting(agent, String(payload.tool))
    ? refused(`Device '${agent}' may not be changed any more.`)
    : undefined;
}

/** A person approved a call: from now on the device's changes are not asked about. @param by the person */
export function rememberApproval(home: HomeContext, { agent, flags }: LedgerCall, by: string | null): void {
  const device = hostedDevicesOf(home).get(agent);
  if (!device || !flags.device?.remember || by === null) return;
  // One of 0.3 may have waited, and covers the same.
  const { allow } = isAllowed(flags.device.allow, device.hosted) ? device.hosted : flags.device;
  hostedDevicesOf(home).change(device, { allow }, by);
}

function refused(why: string): Advised {
  return {
    text: `Error: ${why} Nothing was run.`,
    advice: "Explain this to the user; do not try it another way.",
  };
}
