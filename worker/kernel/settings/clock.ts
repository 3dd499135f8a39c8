/** The home's clock: its time zone, and the hours in which it is left in peace. */
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { TimeWindow } from "@edgecall/core/protocol/rules.ts";
import { clockText, readWindow } from "@edgecall/core/rules/window.ts";
import { isZone } from "@edgecall/core/time/zone.ts";

export type ClockSettings = {
  /** An IANA name. */
  zone: string;
  /** Undefined: there are none. */
  quiet: TimeWindow | undefined;
};

/** Quiet hours that there are not. */
const OFF = "off";

/** @param names of the two fields, for the error */
export function readClockSettings(
  { zone: zoneText, hours: hoursText }: Record<"zone" | "hours", string | undefined>,
  names: Record<"zone" | "hours", string>,
): Parsed<ClockSettings> {
  const zone = zoneText?.trim() || "UTC";
  if (!isZone(zone))
    return { ok: false, error: `${names.zone}: expected a zone as in Europe/Berlin, got '${zone}'` };
  const hours = hoursText?.trim();
  if (!hours || hours === OFF) return { ok: true, value: { zone, quiet: undefined } };
  const quiet = readWindow(hours, zone);
  return quiet.ok
    ? { ok: true, value: { zone, quiet: quiet.value } }
    : { ok: false, error: `${names.hours}: ${quiet.error}` };
}

/** The quiet hours as a setting has them. */
export function hoursOf({ quiet }: ClockSettings): string {
  return quiet ? `${clockText(quiet.from)}-${clockText(quiet.to)}` : OFF;
}
