/** Devices by area, as a person reads them. Pure. */
import type { DeviceView } from "@edgecall/client/routes.ts";

export type Group = { area: string; devices: DeviceView[] };

/** Devices without an area come last. */
export const NO_AREA = "No area";

/** @param words those devices alone whose name, id, area, line or model has each of these words */
export function groupsOf(devices: readonly DeviceView[], words: string): Group[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = devices.filter(({ name, id, area, line, model }) => {
    const text = [name, id, area, line, model].join("\n").toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const groups = Map.groupBy(found, ({ area }) => area ?? NO_AREA);
  const order = (area: string) => (area === NO_AREA ? 1 : 0);
  return [...groups]
    .map(([area, members]) => ({ area, devices: members.toSorted((a, b) => a.name.localeCompare(b.name)) }))
    .sort((a, b) => order(a.area) - order(b.area) || a.area.localeCompare(b.area));
}

/** In order: what it is, what it measures, and how it is. */
export function mainReadings({ readings }: DeviceView): NonNullable<DeviceView["readings"]> {
  return (readings ?? []).filter(({ at, unavailable }) => at !== null && !unavailable).slice(0, 3);
}
