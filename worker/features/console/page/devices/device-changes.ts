/** An administrator's changes of a device. Only these are sent: the rest may be another by now. Pure. */
import type { RequestOf } from "@edgecall/client/client.ts";
import type { DeviceView } from "@edgecall/client/routes.ts";

/** As the form has it. An empty name or area: as the device says. An empty mode: as the bridge is set. */
export type Settings = { name: string; area: string; mode: DeviceView["mode"] | ""; settings: boolean };

export function settingsOf({ own, chosen, mode, settings }: DeviceView): Settings {
  return {
    name: own.name ?? "",
    area: own.area ?? "",
    mode: chosen ? mode : "",
    settings: settings.offered,
  };
}

/** The changes that differ from `from`. */
export function changedFrom(from: Partial<Settings>, changes: Partial<Settings>): Partial<Settings> {
  const keys = Object.keys(changes) as (keyof Settings)[];
  return Object.fromEntries(keys.flatMap((key) => (changes[key] === from[key] ? [] : [[key, changes[key]]])));
}

/** @param allow of the device as the person saw it */
export function bodyOf(
  { name, area, mode, settings }: Partial<Settings>,
  allow: string,
): RequestOf<"PATCH /v1/devices/{device}">["body"] {
  return {
    ...(name !== undefined && { name: name.trim() || null }),
    ...(area !== undefined && { area: area.trim() || null }),
    ...(settings !== undefined && { settings }),
    ...(mode !== undefined && { mode: mode === "" ? null : mode, allow }),
  };
}
