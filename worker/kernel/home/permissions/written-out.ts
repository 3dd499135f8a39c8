/**
 * What a person allowed up to 0.3 ("all harmless actions of this device, by everybody") is written out once: one exact permission for
 * each action that the device has then, for 90 days. The owners are told once, and asked which to keep.
 */
import { windowMs } from "@edgecall/core/test-clock.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import type { HomeContext } from "../context.ts";
import { isAllowed } from "../devices/device-settings.ts";
import { sendNotice } from "../notices/hand-over.ts";
import { ownersOf } from "../notices/reach.ts";
import { endPermission } from "./ends.ts";
import { permissionsOf } from "./permission-store.ts";
import { allowWhole } from "./whole-device.ts";

/** Time after the first one in which the bridge tells of the others. */
const COLLECTED_FOR_MS = windowMs(60_000, 3_000);
const LISTED_MAX = 30;

/** The bridge told of a hosted device. @returns true if an earlier allowance was written out */
export function onDeviceTold(home: HomeContext, id: string): boolean {
  const device = hostedDevicesOf(home).get(id);
  if (!device) return false;
  const { hosted, setting } = device;
  let isVoid = setting?.allow != null && !isAllowed(setting.allow, hosted);
  for (const { permission } of permissionsOf(home).open(hosted.key)) {
    if (!isAllowed(permission.version, hosted)) {
      endPermission(home, permission.id, "changed");
      isVoid = true;
    }
    // The same device, whose bridge computes its hash anew.
    else if (permission.version !== hosted.allow)
      permissionsOf(home).carry(hosted.key, permission.version, hosted.allow);
  }
  hostedDevicesOf(home).compared(device, isVoid);
  if (setting?.allow == null || isVoid) return false;
  const { allowedBy, allowedAt, changedBy, changedAt } = setting;
  allowWhole(home, device, { by: allowedBy ?? changedBy, how: "press", since: allowedAt ?? changedAt });
  hostedDevicesOf(home).allowanceWrittenOut(device);
  return true;
}

export function nextDue(home: HomeContext): number | undefined {
  const times = permissionsOf(home)
    .untold()
    .map(({ permission }) => permission.at);
  return times.length === 0 ? undefined : Math.min(...times) + COLLECTED_FOR_MS;
}

export function onAlarm(home: HomeContext, now: number): void {
  const due = nextDue(home);
  if (due === undefined || due > now) return;
  const rows = permissionsOf(home).untold();
  permissionsOf(home).markTold();
  const ids = [...new Set(rows.map(({ permission }) => permission.device))];
  const more = ids.length > LISTED_MAX ? ` and ${ids.length - LISTED_MAX} more` : "";
  const end = new Date(Math.min(...rows.map(({ permission }) => permission.until)))
    .toISOString()
    .slice(0, 10);
  const text = `Since the update, a yes to a device's change allows that one change alone. What you allowed these devices before stands as permissions, one for each harmless action, for everybody of the home, until ${end}: ${rosterOf(home).withNames(ids.slice(0, LISTED_MAX)).join(", ")}${more}. Keep them, or end those that you do not want: on the page Devices of the console, or with 'edgecall permissions'.`;
  const notice = { id: `permissions:${due}`, text, rules: [], buttons: [], critical: false, at: now };
  sendNotice(home, ownersOf(home), notice, null, now);
}
