/**
 * Allowances of up to 0.3 covered less than those of now. One that may have meant something else is void: the device asks again. The
 * owners are told once, as a list, and `GET /v1/devices` says `changed`.
 */

import { windowMs } from "@edgecall/core/test-clock.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import type { HomeContext } from "../context.ts";
import { sendNotice } from "./hand-over.ts";
import { ownersOf } from "./reach.ts";

/** Time after the first one in which the bridge tells of the others. */
const COLLECTED_FOR_MS = windowMs(60_000, 3_000);
const LISTED_MAX = 30;

export function nextDue(home: HomeContext): number | undefined {
  const times = hostedDevicesOf(home)
    .voided()
    .map(({ since }) => since);
  return times.length === 0 ? undefined : Math.min(...times) + COLLECTED_FOR_MS;
}

export function onAlarm(home: HomeContext, now: number): void {
  const due = nextDue(home);
  if (due === undefined || due > now) return;
  // Names are the publisher's words, so they stand beside the ids, and only those that are labels.
  const ids = hostedDevicesOf(home)
    .voided()
    .map(({ device }) => device.id);
  hostedDevicesOf(home).markVoidedNotified();
  const more = ids.length > LISTED_MAX ? ` and ${ids.length - LISTED_MAX} more` : "";
  const text = `Since the update, what you allow a device covers everything that can change what is sent to it. What was allowed before may have meant something else for these, so they ask again before they are changed: ${rosterOf(home).withNames(ids.slice(0, LISTED_MAX)).join(", ")}${more}. The page Devices of the console allows them again.`;
  const notice = { id: `allowances:${due}`, text, rules: [], buttons: [], critical: false, at: now };
  sendNotice(home, ownersOf(home), notice, null, now);
}
