/** The moments of a rule that acts at a time: by the home's clock, or by its sun. */
import type { Automation, AutomationTime } from "../protocol/automation.ts";
import { DAY_MS, instantOf, localTime, MINUTE_MS } from "../time/zone.ts";
import { weekdayNumber } from "./only-if.ts";

/** @property day the day that is meant, as 20261128: a clock that is changed at midnight may bring its moment on the next one */
export type Moment = { at: number; day: number };

/** No night at a pole is longer. */
const AHEAD_DAYS = 400;
/** A moment may be a day after its sunset. */
const BACK_DAYS = 2;

/**
 * The first moment after `after` (epoch ms). A time that the clock leaves out is due at the first moment after the gap; one that comes
 * twice, the first time.
 * @returns undefined: there is none, as of a sun without a place
 */
export function nextMoment(
  { at: time, zone, place }: Pick<Automation, "at" | "zone" | "place">,
  after: number,
): Moment | undefined {
  if (!time) return undefined;
  const today = localTime(zone, after);
  for (let ahead = -BACK_DAYS; ahead <= AHEAD_DAYS; ahead += 1) {
    const date = { ...today, day: today.day + ahead };
    const noon = instantOf(zone, { ...date, hour: 12, minute: 0 });
    if (time.days && !time.days.includes(weekdayNumber(zone, noon))) continue;
    const at = momentOf(time, { zone, place, date, noon });
    if (at !== undefined && at > after) return { at, day: dayNumber(zone, noon) };
  }
  return undefined;
}

/** The rule is at a time of the sun, and that day has none. @param now epoch ms */
export function isWithoutSun(
  { at: time, zone, place }: Pick<Automation, "at" | "zone" | "place">,
  now: number,
): boolean {
  if (!time || time.of === "clock" || !place) return false;
  const noon = instantOf(zone, { ...localTime(zone, now), hour: 12, minute: 0 });
  return sunOf(place, noon)[time.of] === undefined;
}

type Day = { zone: string; place: Automation["place"]; date: ReturnType<typeof localTime>; noon: number };

function momentOf({ of, minutes }: AutomationTime, { zone, place, date, noon }: Day): number | undefined {
  if (of === "clock")
    return instantOf(zone, { ...date, hour: Math.floor(minutes / 60), minute: minutes % 60 });
  const sun = place && sunOf(place, noon)[of];
  return sun === undefined ? undefined : sun + minutes * MINUTE_MS;
}

function dayNumber(zone: string, at: number): number {
  const { year, month, day } = localTime(zone, at);
  return (year * 100 + month) * 100 + day;
}

const radians = (degrees: number) => (degrees * Math.PI) / 180;
const degrees = (angle: number) => (angle * 180) / Math.PI;
/** Of the sun's middle when its upper edge is seen at the horizon, with the usual refraction. */
const ZENITH = radians(90.833);
/** The sun moves while the time of its rise is looked for. */
const ROUNDS = 3;

/**
 * The times of the sun on the day whose noon by the clock this is, by the formula of NOAA's solar calculator. They are right to 2 minutes
 * where the sun does not graze the horizon. On a day without a rise or a set it has none.
 * @param noon epoch ms
 */
export function sunOf(
  { lat, lon }: NonNullable<Automation["place"]>,
  noon: number,
): { sunrise?: number; sunset?: number } {
  const times: { sunrise?: number; sunset?: number } = {};
  for (const [name, side] of [
    ["sunrise", -1],
    ["sunset", 1],
  ] as const) {
    let at: number | undefined = noon;
    for (let round = 0; round < ROUNDS && at !== undefined; round += 1) {
      const { declination, noonMinutes } = solar(at, lon);
      const highest = noon + nearest(noonMinutes - (noon % DAY_MS) / MINUTE_MS) * MINUTE_MS;
      const cosine =
        (Math.cos(ZENITH) - Math.sin(radians(lat)) * Math.sin(declination)) /
        (Math.cos(radians(lat)) * Math.cos(declination));
      // 4 minutes are a degree.
      at = Math.abs(cosine) > 1 ? undefined : highest + side * degrees(Math.acos(cosine)) * 4 * MINUTE_MS;
    }
    if (at !== undefined) times[name] = Math.round(at);
  }
  return times;
}

/** Minutes of a day, as the way to the nearest noon. */
function nearest(minutes: number): number {
  return ((((minutes + 720) % 1_440) + 1_440) % 1_440) - 720;
}

/** @returns the sun's declination in radians, and when it is highest, in minutes of the day in UTC */
function solar(at: number, lon: number): { declination: number; noonMinutes: number } {
  const century = (at / DAY_MS + 2_440_587.5 - 2_451_545) / 36_525;
  const longitude = radians(280.46646 + century * (36_000.76983 + century * 0.0003032));
  const anomaly = radians(357.52911 + century * (35_999.05029 - century * 0.0001537));
  const eccentricity = 0.016708634 - century * (0.000042037 + century * 0.0000001267);
  const centre =
    Math.sin(anomaly) * (1.914602 - century * (0.004817 + century * 0.000014)) +
    Math.sin(2 * anomaly) * (0.019993 - century * 0.000101) +
    Math.sin(3 * anomaly) * 0.000289;
  const node = radians(125.04 - 1_934.136 * century);
  const apparent = longitude + radians(centre - 0.00569 - 0.00478 * Math.sin(node));
  const obliquity = radians(23.439291 - century * 0.0130042 + 0.00256 * Math.cos(node));
  const y = Math.tan(obliquity / 2) ** 2;
  const equation = degrees(
    y * Math.sin(2 * longitude) -
      2 * eccentricity * Math.sin(anomaly) +
      4 * eccentricity * y * Math.sin(anomaly) * Math.cos(2 * longitude) -
      0.5 * y * y * Math.sin(4 * longitude) -
      1.25 * eccentricity * eccentricity * Math.sin(2 * anomaly),
  );
  return {
    declination: Math.asin(Math.sin(obliquity) * Math.sin(apparent)),
    noonMinutes: 720 - 4 * lon - 4 * equation,
  };
}
