/**
 * A hundred calls of the tool `past`, as a model writes them, about two days of a home whose bridge was off for a while. Each answer is
 * read as a model reads it, and compared with every message that came.
 */
import { readPeriod } from "@edgecall/core/history/period.ts";
import type { KeptValue } from "@edgecall/core/history/sample.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import { playedDay } from "@edgecall/node/history/testkit/played-day.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BridgeHistory } from "./bridge-history.ts";
import { playHome, spanIn, truth } from "./testkit/played-home.ts";

const ZONE = "Europe/Berlin";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** A Wednesday, 00:00 in Berlin. */
const YESTERDAY = Date.UTC(2026, 10, 24, 23);
const TODAY = YESTERDAY + 24 * HOUR;
const NOW = TODAY + 21 * HOUR;
/** In which the bridge was off. */
const OFF = { from: YESTERDAY + 15 * HOUR, to: YESTERDAY + 15 * HOUR + 40 * MINUTE };
const SEED = 7;

const days = [YESTERDAY, TODAY].map((day) => playedDay({ seed: SEED, devices: 2, day }));
const series = days[0]?.series ?? [];
const messages = days
  .flatMap((day) => day.messages)
  .filter(({ at }) => at < NOW && (at < OFF.from || at >= OFF.to));

const HOME = { series, messages, from: YESTERDAY, to: NOW, off: OFF };
let history: BridgeHistory;
beforeAll(async () => {
  history = await playHome(HOME);
}, 60_000);
afterAll(() => history.stop());

type Kind = Pick<PastQuestion, "ask" | "reading" | "is"> & {
  /** Whether a value is the state that is asked for. */
  matches?: (value: KeptValue) => boolean;
};
type Call = Kind & { device: string; period: string | undefined };
const KINDS: readonly Kind[] = [
  { ask: "count", reading: "contact", is: "open", matches: (value) => value === true },
  { ask: "duration", reading: "Contact", is: "open", matches: (value) => value === true },
  { ask: "duration", reading: "mode", is: "heat", matches: (value) => value === "heat" },
  { ask: "duration", reading: "power", is: ">5", matches: (value) => Number(value) > 5 },
  { ask: "min_max", reading: "temperature" },
  { ask: "mean", reading: "humidity" },
  { ask: "change", reading: "energy" },
];
const PERIODS = [
  "today",
  "yesterday",
  "24 h",
  "last night",
  "this morning",
  "since yesterday 20:00",
  "2026-11-25 06:00 to 12:00",
];

const calls = [...new Set(series.map(({ device }) => device))].flatMap((device): Call[] => [
  ...PERIODS.flatMap((period) => KINDS.map((kind) => ({ device, period, ...kind }))),
  { device, period: undefined, ask: "last", reading: "contact", is: "open" },
]);

/** @returns what is wrong with an answer; undefined: it is right */
function wrongIn(
  text: string,
  { device, period, ask, reading, matches = () => true }: Call,
): string | undefined {
  const asked = readPeriod(period, ZONE, NOW);
  if (!asked.ok) return asked.error;
  const number = series.findIndex(
    (one) => one.device === device && one.reading.toLowerCase() === reading.toLowerCase(),
  );
  const pieces = truth(
    messages.filter((message) => message.series === number),
    HOME,
    asked.value,
  );
  const isSo = pieces.filter(({ value }) => matches(value));
  const numbers = pieces.map(({ value }) => Number(value));
  const near = (got: number, wanted: number, least: number) =>
    Math.abs(got - wanted) <= Math.max(0.02 * Math.abs(wanted), least) ? undefined : `${got}, not ${wanted}`;
  const figure = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? Number.NaN);
  switch (ask) {
    case "count": {
      const begun = isSo.filter((piece) =>
        pieces.some((before) => before.to === piece.from && !matches(before.value) && before !== piece),
      );
      const times = / open once/.test(text) ? 1 : figure(/ open (\d+) times/);
      return times === begun.length ? undefined : `${times}, not ${begun.length}`;
    }
    case "duration": {
      const ms = isSo.reduce((sum, piece) => sum + piece.to - piece.from, 0);
      return near(spanIn(/ for (.*?) in all/.exec(text)?.[1] ?? ""), ms, MINUTE);
    }
    case "min_max":
      return (
        near(figure(/lowest (-?[\d.]+)/), Math.min(...numbers), 0.1) ??
        near(figure(/highest (-?[\d.]+)/), Math.max(...numbers), 0.1)
      );
    case "mean": {
      const ms = pieces.reduce((sum, piece) => sum + piece.to - piece.from, 0);
      const mean = pieces.reduce((sum, piece) => sum + Number(piece.value) * (piece.to - piece.from), 0) / ms;
      return near(figure(/mean (-?[\d.]+)/), mean, 0.1);
    }
    default:
      return near(figure(/: ([+-]?[\d.]+) kWh, from/), (numbers.at(-1) ?? 0) - (numbers[0] ?? 0), 0.2);
  }
}

test("at least 95 of a hundred are right, and the others say what is not known", async () => {
  const wrong: string[] = [];
  for (const call of calls) {
    const { device, period, ask, reading, is } = call;
    const question = { agent: device, name: device, reading, ask, is, period, zone: ZONE };
    const reply = await history.answer(question);
    const text = "text" in reply ? reply.text : reply.error;
    const problem = ask === "last" ? lastProblem(text, device) : wrongIn(text, call);
    if (problem !== undefined) wrong.push(`${device} ${ask} ${period}: ${problem} in ${text}`);
  }
  expect(calls).toHaveLength(100);
  expect(wrong.filter((one) => !one.includes("Not known: "))).toEqual([]);
  expect(wrong.length, wrong.join("\n")).toBeLessThanOrEqual(5);
}, 60_000);

/** The minute of the last opening. */
function lastProblem(text: string, device: string): string | undefined {
  const number = series.findIndex((one) => one.device === device && one.reading === "Contact");
  const own = messages.filter((message) => message.series === number);
  const at = own.findLast(({ value }, nth) => value === true && own[nth - 1]?.value === false)?.at ?? 0;
  const time = new Intl.DateTimeFormat("en-GB", {
    timeZone: ZONE,
    hour: "2-digit",
    minute: "2-digit",
  }).format(at);
  return text.includes(`last open ${time}`) ? undefined : `not ${time}`;
}

test("what is not known is said: the bridge was off", async () => {
  const question = {
    agent: series[0]?.device ?? "",
    name: "A",
    reading: "contact",
    ask: "count",
    zone: ZONE,
  } as const;
  const reply = await history.answer({ ...question, is: "open", period: "yesterday" });
  expect(reply).toMatchObject({
    text: expect.stringMatching(/Not known: .*15:00 to .*\(the bridge was off\)/),
  });
});
