/** Which things a filter or words find. Pure. */
import type { Thing } from "../things.ts";

/** In the address after a colon. The first six are offered; Home's chips lead to the others. */
const FILTERS = [
  "all",
  "needs",
  "on",
  "away",
  "machines",
  "unasked",
  "lights",
  "lit",
  "doors",
  "windows",
  "climate",
] as const;
export type Filter = (typeof FILTERS)[number];
export const OFFERED: readonly Filter[] = FILTERS.slice(0, 6);

const FITS: Record<Filter, (thing: Thing) => boolean> = {
  all: () => true,
  needs: ({ wrong }) => wrong.length > 0,
  on: ({ isOn }) => isOn,
  away: ({ usable, device }) => !usable && device?.mode !== "off",
  machines: ({ kind }) => kind === "machine",
  unasked: ({ device }) =>
    device?.mode === "allowed" && !device.changed && device.actions.some(({ effect }) => effect !== "read"),
  lights: ({ kind }) => kind === "light",
  lit: ({ kind, isOn }) => kind === "light" && isOn,
  doors: ({ kind }) => kind === "door",
  windows: ({ kind }) => kind === "window",
  climate: ({ kind, device }) =>
    kind === "climate" ||
    (device?.readings?.some(({ class: of }) => of === "temperature" || of === "humidity") ?? false),
};

export function fits(thing: Thing, filter: Filter): boolean {
  return FITS[filter](thing);
}

/** @param words things of which each word is in the name, id, area, line or model */
export function found(things: readonly Thing[], words: string): Thing[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return things.filter(({ name, id, area, device, agent }) => {
    const text = [name, id, area, device?.line, device?.model, agent?.capabilities].join("\n").toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** What the address's item says: a filter, an area, the page to add something, or a thing's id. */
export type Wanted = { filter: Filter; area?: string; adds?: true; id?: string };

export function wantedOf(item: string | undefined): Wanted {
  if (item === undefined) return { filter: "all" };
  if (!item.startsWith(":")) return { filter: "all", id: item };
  const name = item.slice(1);
  if (name === "add") return { filter: "all", adds: true };
  if (name.startsWith("area:")) return { filter: "all", area: name.slice("area:".length) };
  return { filter: FILTERS.find((one) => one === name) ?? "all" };
}
