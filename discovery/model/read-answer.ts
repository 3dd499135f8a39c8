/** The result of a device's `read` action. */
import { isLabel } from "@edgecall/core/text/label.ts";
import type { HostedDevice, Reading } from "./device.ts";
import { readingLine } from "./device-view.ts";

/** Both may hold a stranger's words, and are tainted then. */
export type ReadAnswer = { text: string; tainted: boolean } | { error: string; tainted?: boolean };

export type Readable = {
  device: HostedDevice;
  /** @param all also what is diagnostic, a setting, or disabled by default */
  readings: (all: boolean) => Reading[];
  /** Also those that are not there at present: they may be asked for by name. */
  everything: () => Reading[];
  /** Values that are not read. */
  unread: () => { what: string; why: string }[];
};

/** @returns the text, or an error that names the parameter */
export function readAnswer(
  { device, readings: readingsOf, everything: everyReading, unread: unreadOf }: Readable,
  parameters: Readonly<Record<string, unknown>>,
  now: number,
): ReadAnswer {
  const { names, all } = parameters;
  const strange = Object.keys(parameters).find((name) => name !== "names" && name !== "all");
  if (strange !== undefined)
    return { error: `${strange}: there is no such parameter; there are: names, all` };
  if (all !== undefined && typeof all !== "boolean") return { error: "all: it has to be true or false" };
  if (names !== undefined && !(Array.isArray(names) && names.every((name) => typeof name === "string")))
    return { error: "names: it has to be a list of texts" };
  const everything = everyReading();
  const unknown = (names ?? []).find((name) => !everything.some((reading) => reading.name === name));
  if (unknown !== undefined)
    return {
      error: `names: there is no ${unknown}; there are: ${everything.map(({ name }) => name).join(", ")}`,
      tainted: everything.some(({ name }) => !isLabel(name)),
    };
  const readings = names ? everything.filter(({ name }) => names.includes(name)) : readingsOf(all === true);
  const unread = names ? [] : unreadOf();
  const lines = [
    ...readings.map((reading) => readingLine(reading, now)),
    ...unread.map(({ what, why }) => `${what}: not read: ${why}`),
  ];
  const state = device.online ? [] : [`${device.name} is offline: ${device.reason ?? "unknown"}`];
  const text = [...state, ...(lines.length > 0 ? lines : ["It reports nothing."])].join("\n");
  return {
    text,
    tainted: readings.some(isStrange) || unread.some(({ what }) => !isLabel(what.replaceAll(": ", " "))),
  };
}

/** A number is no stranger's text. A name, or one of the config's own texts as a value, may be a sentence. */
function isStrange({ tainted, name, value }: Reading): boolean {
  return tainted || !isLabel(name) || (typeof value === "string" && value !== "" && !isLabel(value));
}
