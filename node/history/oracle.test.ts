/**
 * 440 questions about a day, answered from what is kept, against an oracle that reads every message. What is kept may differ from a
 * number by 2 %, or by one of its steps.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerPast } from "@edgecall/core/history/answer.ts";
import type { PastFacts } from "@edgecall/core/history/facts.ts";
import type { KeptValue, SeriesInfo } from "@edgecall/core/history/sample.ts";
import type { PastAsk } from "@edgecall/core/protocol/past.ts";
import { afterAll, describe, expect, test } from "vitest";
import { DAY_MS } from "./day-file.ts";
import { HistoryRecorder } from "./recorder.ts";
import { type Message, playedDay } from "./testkit/played-day.ts";

const DAY = Date.UTC(2026, 10, 26);
const HOURS: ReadonlyArray<readonly [number, number]> = [
  [1, 23],
  [6, 12],
  [20, 22],
];
let asked = 0;
afterAll(() => expect(asked).toBe(440));

/** What a line of messages says between two times: a value holds until the next one. */
function truth(messages: readonly Message[], from: number, to: number) {
  const line = [
    ...messages.filter(({ at }) => at <= from).slice(-1),
    ...messages.filter(({ at }) => at > from && at < to),
  ];
  return line.map(({ at, value }, nth) => ({
    from: Math.max(at, from),
    to: line[nth + 1]?.at ?? to,
    value,
  }));
}

function expected(
  ask: PastAsk,
  line: ReturnType<typeof truth>,
  is: (value: KeptValue) => boolean,
): PastFacts {
  const ms = line.filter(({ value }) => is(value)).reduce((sum, one) => sum + one.to - one.from, 0);
  const begun = line.filter(({ value }, at) => at > 0 && is(value) && !is(line[at - 1]?.value ?? false));
  const numbers = line.map(({ value }) => Number(value));
  const mean =
    line.reduce((sum, one) => sum + Number(one.value) * (one.to - one.from), 0) /
    ((line.at(-1)?.to ?? 0) - (line[0]?.from ?? 0));
  return {
    known_ms: 0,
    ...(ask === "duration" && { ms, count: begun.length }),
    ...(ask === "count" && { count: begun.length }),
    ...(ask === "min_max" && {
      min: { at: 0, value: Math.min(...numbers) },
      max: { at: 0, value: Math.max(...numbers) },
    }),
    ...(ask === "mean" && { mean }),
    ...(ask === "change" && { change: (numbers.at(-1) ?? 0) - (numbers[0] ?? 0) }),
    ...(ask === "last" &&
      begun.length > 0 && { last: { at: begun.at(-1)?.from ?? 0, value: true, to: null, is_over: false } }),
  };
}

const QUESTIONS: Readonly<
  Record<string, ReadonlyArray<{ ask: PastAsk; is?: string; test?: (value: KeptValue) => boolean }>>
> = {
  Temperature: [{ ask: "min_max" }, { ask: "mean" }, { ask: "change" }],
  Humidity: [{ ask: "min_max" }, { ask: "mean" }],
  Power: [
    { ask: "duration", is: ">5", test: (value) => Number(value) > 5 },
    { ask: "count", is: "above 5", test: (value) => Number(value) > 5 },
    { ask: "mean" },
  ],
  Energy: [{ ask: "change" }],
  Contact: [
    { ask: "duration", is: "open", test: (value) => value === true },
    { ask: "count", test: (value) => value === true },
    { ask: "last", is: "on", test: (value) => value === true },
  ],
  Mode: [
    { ask: "duration", is: "heat", test: (value) => value === "heat" },
    { ask: "count", is: "Heat", test: (value) => value === "heat" },
  ],
};

describe.each([1, 2, 3, 4, 5])("a day of home %i", (seed) => {
  const { series, messages } = playedDay({ seed, devices: 2, day: DAY });
  let now = DAY;
  const clock = { now: () => now, wall: () => now };
  const folder = mkdtempSync(join(tmpdir(), "history-"));
  const opened = HistoryRecorder.open({ folder, days: 400, maxBytes: 2 ** 28, clock, log: () => {} });

  async function play(): Promise<HistoryRecorder> {
    const recorder = await opened;
    recorder.begin();
    for (const { series: number, at, value } of messages) {
      while (now + 1_000 < at) {
        now += 1_000;
        if (now % 30_000 === 0) await recorder.tick();
      }
      now = at;
      recorder.came(series[number] as SeriesInfo, value);
    }
    return recorder;
  }
  const played = play();
  afterAll(async () => (await played).stop());

  test.each(["in its log", "in its file"])("%s", async (where) => {
    const recorder = await played;
    if (where === "in its file") {
      await recorder.store.sync(now);
      await recorder.store.pack(DAY + DAY_MS + 3_600_000);
    }
    const last = messages.at(-1)?.at ?? DAY;
    for (const [number, info] of series.entries()) {
      const own = messages.filter((message) => message.series === number);
      for (const { ask, is, test: matches = () => true } of QUESTIONS[info.reading] ?? [])
        for (const [first, end] of HOURS.slice(0, HOURS_OF[info.reading] ?? 1)) {
          asked += 1;
          const [from, to] = [DAY + first * 3_600_000, Math.min(DAY + end * 3_600_000, last)];
          const question = {
            ask,
            from,
            to,
            zone: "UTC",
            ...(is !== undefined && { is }),
          };
          const kept = await recorder.store.read(info, from, to);
          const answer = answerPast(question, { info, kept, compared: undefined, example: null, since: DAY });
          const facts = answer.ok ? answer.value.facts : undefined;
          expect(facts, answer.ok ? "" : answer.error).toBeDefined();
          if (facts)
            compare(
              facts,
              expected(ask, truth(own, from, to), matches),
              ask === "last",
              `${info.reading} ${ask} ${first} to ${end}`,
            );
        }
    }
  });
});

/** Parts of the day in which each reading is asked about. */
const HOURS_OF: Readonly<Record<string, number>> = {
  Temperature: 2,
  Humidity: 1,
  Power: 1,
  Energy: 1,
  Contact: 2,
  Mode: 2,
};

function compare(got: PastFacts, wanted: PastFacts, asksLast: boolean, what: string): void {
  const near = (a: unknown, b: number, step: number) =>
    expect(Math.abs(Number(a) - b), `${what}: ${a}, not ${b}`).toBeLessThanOrEqual(
      Math.max(0.02 * Math.abs(b), step) + 1e-9,
    );
  if (wanted.count !== undefined) expect(got.count, what).toBe(wanted.count);
  // Times are kept to a second.
  if (wanted.ms !== undefined) near(got.ms, wanted.ms, 1_000 * (wanted.count ?? 0) + 2_000);
  if (wanted.mean !== undefined) near(got.mean, wanted.mean, 0.1);
  if (wanted.change !== undefined) near(got.change, wanted.change, 0.2);
  if (wanted.min && wanted.max) {
    near(got.min?.value, Number(wanted.min.value), 0.1);
    near(got.max?.value, Number(wanted.max.value), 0.1);
  }
  if (!asksLast) return;
  if (wanted.last) expect(Math.abs((got.last?.at ?? 0) - wanted.last.at), what).toBeLessThanOrEqual(1_000);
  else expect(got.last, what).toBeUndefined();
}
