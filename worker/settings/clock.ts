/** The home's clock: its time zone, and the hours in which it is left in peace. */
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import { readWindow, type TimeWindow } from "@edgecall/core/rules/window.ts";
import { isZone } from "@edgecall/core/rules/zone.ts";
import type { Env } from "../env.ts";

export type ClockSettings = {
  /** An IANA name. */
  zone: string;
  /** Undefined: there are none. */
  quiet: TimeWindow | undefined;
};

export function readClockSettings({
  TIMEZONE,
  QUIET_HOURS,
}: Pick<Env, "TIMEZONE" | "QUIET_HOURS">): Parsed<ClockSettings> {
  const zone = TIMEZONE?.trim() || "UTC";
  if (!isZone(zone))
    return { ok: false, error: `TIMEZONE: expected a zone as in Europe/Berlin, got '${zone}'` };
  const hours = QUIET_HOURS?.trim();
  if (!hours || hours === "off") return { ok: true, value: { zone, quiet: undefined } };
  const quiet = readWindow(hours, zone);
  return quiet.ok
    ? { ok: true, value: { zone, quiet: quiet.value } }
    : { ok: false, error: `QUIET_HOURS: ${quiet.error}` };
}
