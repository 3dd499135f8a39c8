/** What a device's readings say about a question: the reading that is asked for, and whether a state is so. Pure. */
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { plainText } from "@edgecall/core/phrases/reported-text.ts";
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import type { Reading as Asked, Comparison, State } from "@edgecall/core/sentences/frame.ts";
import { type Condition, DeviceWords, fit } from "../../../kernel/home/devices/reading-condition.ts";
import { isShown } from "../../../kernel/home/devices/reading-text.ts";

/** A battery of so much counts as low where a device tells percents. */
const LOW_BATTERY_PERCENT = 20;
/** A plug whose device takes less is idle: its own clock and lamp take some. */
const RUNNING_WATTS = 5;
/** An older value is told with its age. */
const FRESH_MS = 120_000;

/** Kinds that are switched, by what they are: their readings say what the device's state is, before those of its sensors. */
const SWITCHED = [
  "light",
  "switch",
  "fan",
  "siren",
  "humidifier",
  "climate",
  "water_heater",
  "cover",
  "valve",
  "lock",
  "vacuum",
  "lawn_mower",
  "alarm_control_panel",
  "media_player",
];

/** Words that reading-condition.ts knows the readings by. Readings without a class are known by their names. */
const CLASSES: Readonly<Partial<Record<Asked, readonly string[]>>> = {
  target_temperature: ["targettemp"],
  color_temperature: ["colourtemp"],
  air_quality: ["aqi", "volatile_organic_compounds", "carbon_dioxide"],
};
const NAMED: Readonly<Partial<Record<Asked, string>>> = { color: "colour", mode: "mode", level: "level" };

/** @returns the readings of what is asked for, the likeliest first; of a state those that say what the device does */
export function readingsOf(readings: readonly Reading[], asked: Asked): Reading[] {
  if (asked === "state") return stateReadings(readings);
  // A cover's is called by its class.
  const positions = asked === "position" ? readings.filter((one) => position(one) !== undefined) : [];
  if (positions.length > 0) return positions;
  const word = NAMED[asked];
  const condition: Condition = {
    words: [
      { word: word ?? asked, classes: word === undefined ? (CLASSES[asked] ?? [asked]) : [], states: [] },
    ],
    compare: undefined,
    value: "",
    values: [],
    number: undefined,
    unit: undefined,
  };
  const none = new DeviceWords("");
  const ranked = readings.flatMap((reading) => {
    const rank = fit(condition, reading, none);
    return rank === undefined ? [] : [{ reading, rank }];
  });
  const best = Math.min(...ranked.map(({ rank }) => rank));
  return ranked.filter(({ rank }) => rank === best).map(({ reading }) => reading);
}

function stateReadings(readings: readonly Reading[]): Reading[] {
  const shown = readings.filter(isShown);
  const main = shown.filter(({ kind }) => SWITCHED.includes(kind));
  const sensors = shown.filter(({ class: of }) => of !== "battery" && of !== "signal_strength");
  return (main.length > 0 ? main : sensors.length > 0 ? sensors : shown).slice(0, 4);
}

/** @returns whether the state is so, and the reading that says it; undefined: no reading says anything about it */
export function stateIn(
  readings: readonly Reading[],
  state: State,
): { so: boolean | undefined; by: Reading } | undefined {
  const about = readings.filter(({ kind }) => SWITCHED.includes(kind));
  const others = readings.filter(({ kind }) => !SWITCHED.includes(kind));
  const ordered = [...about, ...others];
  // A washing machine that has ended is still on: what it takes says more than its plug.
  return firstOf(ordered, TESTS[state]) ?? firstOf(ordered, PLUGGED[state]);
}

function firstOf(
  readings: readonly Reading[],
  test: Test | undefined,
): { so: boolean | undefined; by: Reading } | undefined {
  if (!test) return undefined;
  let unknown: Reading | undefined;
  for (const reading of readings) {
    const so = test(reading);
    if (so === undefined) continue;
    if (so !== "unknown" && !reading.unavailable) return { so, by: reading };
    unknown ??= reading;
  }
  return unknown && { so: undefined, by: unknown };
}

/** `unknown`: the reading is about it, and has no value now. undefined: it is about something else. */
type Test = (reading: Reading) => boolean | "unknown" | undefined;

const flag =
  (wanted: boolean, ...classes: string[]): Test =>
  ({ kind, class: of, value }) =>
    kind !== "binary_sensor" || of === undefined || !classes.includes(of)
      ? undefined
      : typeof value === "boolean"
        ? value === wanted
        : "unknown";

const word =
  (kinds: readonly string[], yes: readonly string[], no: readonly string[] | "others"): Test =>
  ({ kind, value, unit }) => {
    if (!kinds.includes(kind) || unit !== undefined) return undefined;
    if (value === null) return "unknown";
    if (typeof value !== "string") return undefined;
    if (yes.includes(value)) return true;
    return no === "others" || no.includes(value) ? false : undefined;
  };

const first =
  (...tests: Test[]): Test =>
  (reading) => {
    for (const test of tests) {
      const so = test(reading);
      if (so !== undefined) return so;
    }
    return undefined;
  };

const not =
  (test: Test): Test =>
  (reading) => {
    const so = test(reading);
    return typeof so === "boolean" ? !so : so;
  };

const ON_OFF = ["light", "switch", "fan", "siren", "humidifier"];
const on: Test = first(
  ({ kind, value, unit }) =>
    !ON_OFF.includes(kind) || unit !== undefined
      ? undefined
      : typeof value === "boolean"
        ? value
        : value === null
          ? "unknown"
          : undefined,
  ({ kind, name, value }) =>
    ["climate", "water_heater"].includes(kind) && /(?:^|\s)mode$/i.test(name) && typeof value === "string"
      ? value !== "off"
      : undefined,
  word(["media_player"], ["on", "playing", "paused", "idle"], ["off", "standby"]),
  flag(true, "light", "power", "plug"),
);
const position: Test = ({ kind, value, unit, name }) =>
  (kind === "cover" || kind === "valve") && unit === "%" && typeof value === "number" && !/tilt/i.test(name)
    ? value > 0
    : undefined;
const open: Test = first(
  flag(true, "door", "window", "garage_door", "opening"),
  word(["cover", "valve"], ["open", "opening"], ["closed", "closing"]),
  position,
  word(["lock"], ["open", "opening"], []),
);
const locked: Test = first(
  word(["lock"], ["locked"], ["unlocked", "open", "jammed", "unlocking"]),
  flag(false, "lock"),
);
const motion: Test = flag(true, "motion", "occupancy", "presence", "moving");
const running: Test = first(
  flag(true, "running"),
  word(["vacuum"], ["cleaning", "returning"], "others"),
  word(["lawn_mower"], ["mowing", "returning"], "others"),
  ({ class: of, value, unit }) =>
    of === "power" && unit === "W" && typeof value === "number" ? value > RUNNING_WATTS : undefined,
);
/** Of things that tell no more than whether they are on. */
const PLUGGED: Readonly<Partial<Record<State, Test>>> = { running: on, finished: not(on) };

const TESTS: Readonly<Partial<Record<State, Test>>> = {
  on,
  off: not(on),
  open,
  closed: not(open),
  locked,
  unlocked: not(locked),
  moving: first(word(["cover"], ["opening", "closing"], "others"), flag(true, "moving", "vibration")),
  motion,
  no_motion: not(motion),
  occupied: motion,
  wet: flag(true, "moisture"),
  dry: flag(false, "moisture"),
  smoke: flag(true, "smoke"),
  gas: flag(true, "gas", "carbon_monoxide"),
  home: flag(true, "presence"),
  away: flag(false, "presence"),
  charging: flag(true, "battery_charging"),
  low_battery: first(flag(true, "battery"), ({ class: of, value, unit }) =>
    of === "battery" && unit === "%"
      ? typeof value === "number"
        ? value <= LOW_BATTERY_PERCENT
        : "unknown"
      : undefined,
  ),
  running,
  finished: not(running),
  cleaning: word(["vacuum"], ["cleaning"], "others"),
  docked: word(["vacuum", "lawn_mower"], ["docked"], "others"),
  paused: word(["vacuum", "lawn_mower", "media_player"], ["paused"], "others"),
  heating: word(
    ["climate", "water_heater"],
    ["heating", "preheating"],
    ["idle", "off", "cooling", "drying", "fan"],
  ),
  cooling: word(["climate"], ["cooling"], ["idle", "off", "heating", "drying", "fan"]),
  playing: word(["media_player"], ["playing"], "others"),
  failed: flag(true, "problem"),
};

/** @returns whether the comparison holds; undefined: the value is none that can be compared */
export function compares(reading: Reading, { is, value: { number, unit } }: Comparison): boolean | undefined {
  const { value, unavailable } = reading;
  if (typeof value !== "number" || unavailable) return undefined;
  const limit = inUnit(number, unit, reading.unit);
  if (is === "above") return value > limit;
  return is === "below" ? value < limit : value === limit;
}

/** A number that a person said, in the unit of the reading. */
function inUnit(number: number, said: string | undefined, of: string | undefined): number {
  if (said === "°F" && of === "°C") return (number - 32) / 1.8;
  if (said === "°C" && of === "°F") return number * 1.8 + 32;
  if (said === "kW" && of === "W") return number * 1_000;
  return said === "W" && of === "kW" ? number / 1_000 : number;
}

/** A value in the person's words, with its age where it is old. */
export function valueText(reading: Reading, phrases: Phrases, now: number): string {
  const { value, unit, class: of, kind, at, unavailable } = reading;
  if (value === null || unavailable) return phrases.value("unknown");
  const text = plainText({ value, unit, kind, ...(of !== undefined && { class: of }) }, phrases);
  const isOld = at !== null && now - at > FRESH_MS;
  return isOld ? phrases.say("valueAgo", { value: text, span: phrases.span(now - at) }) : text;
}

/** Texts that devices report, for a state of the same name. */
const TEXTS = [
  "open",
  "closed",
  "locked",
  "unlocked",
  "cleaning",
  "docked",
  "paused",
  "mowing",
  "playing",
  "heating",
  "cooling",
];

/** When a reading says that a state is so, as a watch keeps it. @returns undefined: several values do, or none */
export function wantedValue(
  reading: Reading,
  state: State,
): { is: "equal"; value: boolean | string } | { is: "above" | "below"; value: number } | undefined {
  const fits = (value: boolean | string | number) => {
    const told = { ...reading, value };
    return (TESTS[state]?.(told) ?? PLUGGED[state]?.(told)) === true;
  };
  if (typeof reading.value === "number") {
    const limit = LIMITS.find((one) => fits(one) !== fits(one + 1));
    return limit === undefined
      ? undefined
      : fits(limit)
        ? { is: "below", value: limit + 1 }
        : { is: "above", value: limit };
  }
  const values =
    typeof reading.value === "boolean" ? [true, false] : typeof reading.value === "string" ? TEXTS : [];
  const fitting = values.filter(fits);
  const value = fitting.find((one) => one === state) ?? (fitting.length === 1 ? fitting[0] : undefined);
  return value === undefined ? undefined : { is: "equal", value };
}

/** Numbers above which a reading says something else: a position, a power, a battery. */
const LIMITS: readonly number[] = [0, RUNNING_WATTS, LOW_BATTERY_PERCENT];
