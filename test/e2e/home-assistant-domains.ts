/** Of each domain a device of the lab that obeys and one that does not, and what is said of each. */
import { expect } from "vitest";

type Row = [agent: string, action: string, parameters: object, expected: object];

const done = { status: "success", confirmed: true };
const sent = { status: "success", confirmed: false };
const not = (words: string) => ({
  status: "error",
  error_type: "outcome_unknown",
  error: expect.stringContaining(words) as string,
});
const silent = not("did not answer");
const read = (words: string) => ({
  status: "success",
  tainted: true,
  result: expect.stringContaining(words) as string,
});

export const OF_EACH_DOMAIN: readonly Row[] = [
  ["lamp-works", "set", { rgb: [255, 120, 0] }, done],
  ["lamp-works", "set", { kelvin: 2_750 }, done],
  ["lamp-dead", "set", { rgb: [255, 120, 0] }, silent],
  ["lock-stuck", "lock", {}, not("It reports: jammed")],
  ["fan-works", "set", { percentage: 60 }, done],
  ["fan-works", "set", { direction: "reverse", oscillate: true }, done],
  ["fan-dead", "set", { percentage: 60 }, silent],
  ["humidifier-works", "set", { humidity: 55, mode: "sleep" }, done],
  ["humidifier-dead", "set", { humidity: 55 }, silent],
  ["heater-works", "set", { temperature: 60, away: true }, done],
  ["heater-dead", "set", { temperature: 60 }, silent],
  ["vacuum-works", "start", {}, done],
  ["vacuum-works", "dock", {}, done],
  ["vacuum-works", "locate", {}, sent],
  ["vacuum-stuck", "start", {}, not("It reports: error")],
  ["vacuum-dead", "set", { fan_speed: "max" }, silent],
  ["mower-works", "start", {}, done],
  ["mower-stuck", "start", {}, not("It reports: error")],
  ["player-works", "set", { volume_pct: 32, source: "HDMI" }, done],
  ["player-works", "pause", {}, done],
  ["player-works", "next", {}, sent],
  ["player-dead", "set", { volume_pct: 32 }, silent],
  ["valve-works", "open", {}, done],
  ["siren-works", "sound", { tone: "fire", duration_s: 3 }, done],
  ["siren-dead", "sound", {}, silent],
  ["text-works", "set", { value: "hello" }, done],
  ["text-dead", "set", { value: "hello" }, silent],
  ["password-works", "set", { value: "hello" }, sent],
  ["date-works", "set", { value: "2026-12-24" }, done],
  ["date-dead", "set", { value: "2026-12-24" }, silent],
  ["time-works", "set", { value: "07:30" }, done],
  ["time-dead", "set", { value: "07:30" }, silent],
  ["datetime-works", "set", { value: "2026-12-24 18:00" }, done],
  ["datetime-dead", "set", { value: "2026-12-24 18:00" }, silent],
  ["alarm-works", "arm_away", {}, done],
  ["alarm-works", "disarm", {}, done],
  // The bridge's user is none.
  [
    "update-works",
    "install",
    {},
    { status: "error", error: expect.stringContaining("only administrators") as string },
  ],
  ["notify-works", "send", { message: "Dinner" }, sent],
  ["list-works", "add", { item: "Milk" }, done],
  ["list-works", "items", {}, read("Bread")],
  ["list-dead", "add", { item: "Milk" }, silent],
  ["calendar-works", "events", {}, read("Dentist")],
  ["calendar-works", "create", { summary: "Tea", start: "2026-12-24 16:00", end: "2026-12-24 17:00" }, sent],
  ["weather-works", "forecast", {}, read("2026-12-01: sunny, 1 to 9 °C")],
  [
    "camera-works",
    "snapshot",
    {},
    { status: "success", tainted: true, media: [{ media_type: "image/png" }] },
  ],
  [
    "event-works",
    "read",
    {},
    { status: "success", result: expect.stringContaining("last event: double") as string },
  ],
];

/** Those that may take a minute, which is how long they are waited for. */
export const SLOW: readonly Row[] = [
  ["cover-stuck", "open", {}, not("40 %")],
  ["valve-dead", "open", {}, silent],
];
