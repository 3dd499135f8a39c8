/**
 * The line by which models and lists know a hosted device. Everybody who can write to the broker can describe a device, so only what
 * reads like a label passes unless an owner has accepted it. Pure.
 */
import type { HostedState } from "@edgecall/core/protocol/devices.ts";
import { isLabel } from "@edgecall/core/text/label.ts";

const BETWEEN = " · ";

/** A person's own words for a device. */
export type OwnNames = { name: string | null; area: string | null };

/**
 * The line about a device for models and lists: what it is, where, and its model. A person's words take the place of the publisher's.
 * @param line as the bridge made it: kinds and classes, area, model, with " · " between them
 * @param accepted an owner has accepted the bridge's line, so that all of it is shown
 */
export function lineOf(
  { id, line }: { id: string; line: string },
  hosted: HostedState,
  own: OwnNames | undefined,
  accepted: boolean,
): string {
  const [kinds = "", ...rest] = line.split(BETWEEN);
  const isShown = (text: string) => accepted || isLabel(text);
  const area = areaOf(hosted, own, accepted);
  const shownKinds = accepted ? kinds : labelsOf(kinds);
  const parts = [shownKinds, area ?? "", ...rest.filter((part) => part !== hosted.area && isShown(part))];
  const words = parts.filter((part) => part !== "").join(BETWEEN);
  const name = nameOf(id, hosted, own, accepted);
  return name === undefined ? words || id : `${name}: ${words}`;
}

/** Returns the name of a device, for models and lists; undefined where it says no more than the id. */
export function nameOf(
  id: string,
  hosted: HostedState,
  own: OwnNames | undefined,
  accepted: boolean,
): string | undefined {
  const name = own?.name ?? (accepted || isLabel(hosted.name) ? hosted.name : undefined);
  return name !== undefined && lettersOf(name) !== lettersOf(id) ? name : undefined;
}

/** Its place, for models, lists and counts. */
export function areaOf(
  { area }: HostedState,
  own: OwnNames | undefined,
  accepted: boolean,
): string | undefined {
  return own?.area ?? (area !== undefined && (accepted || isLabel(area)) ? area : undefined);
}

/** Words by which it is found beside its name: its floor and its aliases. They are not told. */
export function otherWordsOf({ floor, aliases = [] }: HostedState, accepted: boolean): string {
  const words = [...(floor === undefined ? [] : [floor]), ...aliases];
  return words.filter((one) => accepted || isLabel(one)).join(" ");
}

/** "light (brightness)", also where the bridge has cut the line: "sensor (temperature, hum…". */
const KIND = /([^(),]+)(?:\(([^()]*)\)?)?/g;

/** @returns "light (brightness), sensor (temperature)"; classes of which one is no label are left out, and kinds of which one is none too */
function labelsOf(kinds: string): string {
  const all = [...kinds.matchAll(KIND)].map(([, kind = "", classes = ""]) => ({
    kind: listText(kind),
    classes: listText(classes),
  }));
  if (all.some(({ kind }) => kind === undefined)) return "";
  const shown = all.map(({ kind, classes }) => (kind && classes ? `${kind} (${classes})` : kind));
  return shown.filter(Boolean).join(", ");
}

/** @returns undefined: one of them is no label. A word that is cut says nothing. */
function listText(list: string): string | undefined {
  const words = list.split(",").flatMap((word) => word.trim() || []);
  if (!words.every(isLabel)) return undefined;
  return words.map((word) => (word.endsWith("…") ? "…" : word)).join(", ");
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}
