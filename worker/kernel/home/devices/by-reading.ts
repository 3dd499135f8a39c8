/** The hosted devices of which a reading fits a condition, and what a model is told where none does. Pure. */
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import { type Condition, DeviceWords, fit, isKnownWord } from "./reading-condition.ts";
import { isShown } from "./reading-text.ts";

/** Different readings that are named where no device fits. */
const NAMED_MAX = 40;
/** A reading of this rank or above is a text that reads as a number: it counts only where no other device has a better one. */
const LAST_RESORT = 8;

export type ReadingDevice = { id: string; line: string; readings: readonly Reading[] };
/** @property rank the least is the best */
type Fitting = { id: string; rank: number; readings: Reading[] };

/**
 * The best first: by what the reading is, then those that are where it is asked for, then by value, the lowest first, for `>` the
 * highest.
 */
export function devicesByReading(
  condition: Condition,
  devices: readonly ReadingDevice[],
  isThere: (id: string) => boolean,
): Fitting[] {
  const found = devices.flatMap(({ id, line, readings }): Fitting[] => {
    const words = new DeviceWords(`${id} ${line}`);
    const fitting = readings.flatMap((reading) => {
      const rank = fit(condition, reading, words);
      return rank === undefined ? [] : [{ reading, rank }];
    });
    fitting.sort((a, b) => a.rank - b.rank);
    const [best] = fitting;
    return best ? [{ id, rank: best.rank, readings: fitting.map(({ reading }) => reading) }] : [];
  });
  const isBetter = found.some(({ rank }) => rank < LAST_RESORT);
  const kept = isBetter ? found.filter(({ rank }) => rank < LAST_RESORT) : found;
  const order = condition.compare?.startsWith(">") ? -1 : 1;
  const numberOf = ({ readings: [first] }: Fitting) => (typeof first?.value === "number" ? first.value : 0);
  return kept.sort(
    (a, b) =>
      a.rank - b.rank || Number(isThere(b.id)) - Number(isThere(a.id)) || order * (numberOf(a) - numberOf(b)),
  );
}

/** Words of a condition that neither name a reading or state, nor stand in a reading or device. */
export function unknownWords(condition: Condition, devices: readonly ReadingDevice[]): string[] {
  const words = new DeviceWords(
    [...new Set(devices.flatMap(({ id, line, readings }) => [id, line, ...readings.flatMap(wordsIn)]))].join(
      " ",
    ),
  );
  return [...condition.words, ...condition.values].flatMap((one) =>
    isKnownWord(one, words) ? [] : one.word,
  );
}

/** The readings of which a condition asks, whatever they are now; all of them where there is none. */
export function readingsThereOf(condition: Condition, devices: readonly ReadingDevice[]): string[] {
  const words = condition.words.filter(({ states, classes }) => states.length === 0 || classes.length > 0);
  const any: Condition = { ...condition, words, compare: undefined, values: [], number: undefined };
  const having = devices.map(({ id, line, readings }) => {
    const own = new DeviceWords(`${id} ${line}`);
    return { id, line, readings: readings.filter((reading) => fit(any, reading, own) !== undefined) };
  });
  const there = words.length > 0 ? readingsThere(having) : [];
  return there.length > 0 ? there : readingsThere(devices);
}

function wordsIn({ name, class: of, text, tainted }: Reading): string[] {
  return [name, of ?? "", tainted ? "" : text];
}

/** @returns the readings that there are, the commonest first: "battery 40", "window (open, closed) 12" */
export function readingsThere(devices: readonly ReadingDevice[]): string[] {
  const counts = new Map<string, { devices: number; states: Set<string> }>();
  for (const { readings } of devices) {
    const seen = new Set<string>();
    for (const { class: of, kind, value, text, unit } of readings.filter(isShown)) {
      const name = (of ?? kind).replaceAll("_", " ") + (unit === undefined ? "" : ` in ${unit}`);
      const known = counts.get(name) ?? { devices: 0, states: new Set() };
      counts.set(name, known);
      if (!seen.has(name)) known.devices += 1;
      seen.add(name);
      if (typeof value === "boolean" || (unit === undefined && typeof value === "string"))
        known.states.add(text);
    }
  }
  const ordered = [...counts].sort(([a, one], [b, other]) => other.devices - one.devices || (a < b ? -1 : 1));
  return ordered.slice(0, NAMED_MAX).map(([name, { devices: many, states }]) => {
    const said = [...states].slice(0, 6).join(", ");
    return said === "" ? `${name}: ${many}` : `${name} (${said}): ${many}`;
  });
}
