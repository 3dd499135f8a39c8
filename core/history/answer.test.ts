/** Answers from what was kept, and their words: what is not known is in both. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textTokens } from "../loop/tokens.ts";
import { de } from "../phrases/languages/de.ts";
import { ENGLISH, Phrases } from "../phrases/phrases.ts";
import { PAST_ASKS, type PastAsk } from "../protocol/past.ts";
import { answerPast, type PastAnswer, type PastAsked } from "./answer.ts";
import { pastText } from "./answer-text.ts";
import { closestReading } from "./closest-reading.ts";
import { piecesOf } from "./pieces.ts";
import { timesOf } from "./question.ts";
import type { Gap, KeptValue, Sample, SeriesInfo } from "./sample.ts";
import { sentenceText } from "./sentence-text.ts";

const ZONE = "Europe/Berlin";
/** A Monday, 00:00 in Berlin. */
const MONDAY = Date.UTC(2026, 10, 22, 23);
const HOUR = 3_600_000;
const MINUTE = 60_000;
const NOW = MONDAY + 87 * HOUR + 10 * MINUTE;
const DOOR: SeriesInfo = { device: "k", reading: "Contact", class: "door", kind: "binary_sensor" };
const ROOM: SeriesInfo = {
  device: "k",
  reading: "Temperature",
  unit: "°C",
  class: "temperature",
  kind: "sensor",
};

const at = (hour: number, minute = 0) => MONDAY + hour * HOUR + minute * MINUTE;
const samplesOf = (...all: ReadonlyArray<readonly [at: number, value: KeptValue | null]>): Sample[] =>
  all.map(([time, value]) => ({ at: time, value }));

function answered(
  info: SeriesInfo,
  samples: readonly Sample[],
  question: Partial<PastAsked> & { ask: PastAsk },
  {
    gaps = [],
    since = MONDAY - 20 * 24 * HOUR,
    earlier,
  }: { gaps?: Gap[]; since?: number; earlier?: number } = {},
): PastAnswer {
  const whole = { from: MONDAY, to: NOW, zone: ZONE, ...question };
  const answer = answerPast(whole, {
    info,
    kept: { samples, gaps, isCoarse: false, ...(earlier !== undefined && { earlier }) },
    compared: question.compare && { samples, gaps, isCoarse: false },
    example: null,
    since,
  });
  if (!answer.ok) throw new Error(answer.error);
  return answer.value;
}

const textOf = (answer: PastAnswer, ask: PastAsk, by?: PastAsked["by"]) =>
  pastText(answer, { name: "Front door", ask, by, zone: ZONE, now: NOW });

const opened = samplesOf(
  [MONDAY - HOUR, false],
  [at(9), true],
  [at(9, 4), false],
  [at(42, 20), true],
  [at(42, 31), false],
  [at(86, 52), true],
  [at(86, 53), false],
);

test("the door of the week: how often, when last, how long, and what is not known", () => {
  const gaps: Gap[] = [{ from: at(27, 10), to: at(28, 40), why: "bridge" }];
  const samples = [...opened.slice(0, 3), { at: at(28, 40), value: false }, ...opened.slice(3)];
  const count = answered(DOOR, samples, { ask: "count", is: "open", by: "day" }, { gaps });
  expect(textOf(count, "count", "day")).toBe(
    [
      "Front door, Contact, Mon 00:00 to 15:10 (Europe/Berlin): open 3 times; last open 14:52, until 14:53.",
      "By day: Mon 23: 1, Tue 24: 1, Wed 25: 0, Thu 26: 1.",
      "Not known: Tue 03:10 to Tue 04:40 (the bridge was off).",
    ].join("\n"),
  );
  expect(pastText(count, { name: "Pi", ask: "count", zone: ZONE, now: NOW, keeper: "agent" })).toContain(
    "Not known: Tue 03:10 to Tue 04:40 (the agent was off).",
  );
  const duration = answered(DOOR, samples, { ask: "duration" }, { gaps });
  expect(textOf(duration, "duration")).toBe(
    [
      "Front door, Contact, Mon 00:00 to 15:10 (Europe/Berlin): open for 16 min in all, 3 times; longest 11 min, Tue 18:20 to Tue 18:31.",
      "Not known: Tue 03:10 to Tue 04:40 (the bridge was off).",
    ].join("\n"),
  );
});

test("a door that is opened and shut within a second was opened", () => {
  const samples = samplesOf([at(1), false], [at(2), true], [at(2), false]);
  expect(answered(DOOR, samples, { ask: "count" }).facts).toMatchObject({ count: 1, ms: 0 });
});

test("a door that was opened in the second in which it was lost was opened", () => {
  const samples = samplesOf([at(2), false], [at(2), true], [at(2), null]);
  const count = answered(DOOR, samples, { ask: "count" });
  expect(textOf(count, "count")).toContain("open once; last open Mon 02:00, its end was not seen.");
});

test("a list has the newest twelve, and says how many are left out", () => {
  const many = samplesOf(...Array.from({ length: 30 }, (_, nth) => [at(nth), nth % 2 === 0] as const));
  const list = answered(DOOR, many, { ask: "list" });
  expect(list.facts).toMatchObject({ count: 29, more: 17 });
  expect(textOf(list, "list").split("\n").slice(1, 3)).toEqual([
    "17 earlier ones are left out; ask by day.",
    "Mon 18:00 open",
  ]);
  const onlyOpen = answered(DOOR, many, { ask: "list", is: "open" });
  expect(onlyOpen.facts.list?.every(({ value }) => value === true)).toBe(true);
});

describe("numbers", () => {
  const warm = samplesOf([MONDAY - HOUR, 20], [at(6), 19.2], [at(12), 22.4], [at(24), 21]);

  test("the lowest and the highest, the mean by time, and the change", () => {
    expect(textOf(answered(ROOM, warm, { ask: "min_max" }), "min_max")).toContain(
      "lowest 19.2 °C (Mon 06:00), highest 22.4 °C (Mon 12:00)",
    );
    const mean = answered(ROOM, warm, { ask: "mean", from: MONDAY, to: at(24) });
    expect(mean.facts.mean).toBeCloseTo((6 * 20 + 6 * 19.2 + 12 * 22.4) / 24, 10);
    expect(textOf(mean, "mean")).toContain("mean 21 °C, from 19.2 °C to 22.4 °C");
    expect(textOf(answered(ROOM, warm, { ask: "change" }), "change")).toContain(
      "+1 °C, from 20 °C (Mon 00:00) to 21 °C",
    );
  });

  test("of a meter that begins anew nothing is lost", () => {
    const meter = { ...ROOM, class: "energy", unit: "kWh" };
    const values = samplesOf([MONDAY, 100], [at(5), 108], [at(6), 0.5], [at(7), 3]);
    expect(answered(meter, values, { ask: "change" }).facts.change).toBe(11);
  });

  test("above a limit: how long, how often", () => {
    const above = answered(ROOM, warm, { ask: "duration", is: ">21", to: at(24) });
    expect(above.facts).toMatchObject({ ms: 12 * HOUR, count: 1 });
    expect(textOf(above, "duration")).toContain("above 21 for 12 h in all, once");
  });

  test("compared with another time", () => {
    const both = answered(ROOM, warm, {
      ask: "mean",
      from: at(12),
      to: at(24),
      compare: { from: MONDAY, to: at(6) },
    });
    expect(textOf(both, "mean")).toContain("Mon 00:00 to Mon 06:00: mean 20 °C");
  });
});

describe("what is not known", () => {
  test("no value is not zero", () => {
    const none = answered(DOOR, [], { ask: "count", is: "open" }, { since: at(80) });
    expect(textOf(none, "count")).toBe(
      [
        "Front door, Contact, Mon 00:00 to 15:10 (Europe/Berlin): nothing is known of this time.",
        "Not known: Mon 00:00 to 15:10 (no value had come). Kept since Thu 26 Nov 2026.",
      ].join("\n"),
    );
  });

  test("a value holds only while it is available, and a gap ends what was known until the next value", () => {
    const samples = samplesOf([at(1), true], [at(2), null], [at(3), false], [at(6), true]);
    const gaps: Gap[] = [{ from: at(4), to: at(5), why: "disk" }];
    expect(piecesOf({ samples, gaps }, { from: MONDAY, to: at(7) })).toEqual([
      { from: MONDAY, to: at(1), value: null, why: "none" },
      { from: at(1), to: at(2), value: true },
      { from: at(2), to: at(3), value: null, why: "away" },
      { from: at(3), to: at(4), value: false },
      { from: at(4), to: at(6), value: null, why: "disk" },
      { from: at(6), to: at(7), value: true },
    ]);
    const facts = answered(DOOR, samples, { ask: "duration", to: at(7) }, { gaps }).facts;
    // That it was opened in between is not seen.
    expect(facts).toMatchObject({ ms: 2 * HOUR, count: 0, known_ms: 3 * HOUR });
  });

  test("values of a time that a clock showed twice are not known", () => {
    const gaps: Gap[] = [{ from: at(2), to: at(4), why: "clock" }];
    const samples = samplesOf([at(1), true], [at(3), false], [at(5), true]);
    expect(piecesOf({ samples, gaps }, { from: at(1), to: at(6) }).map(({ value }) => value)).toEqual([
      true,
      null,
      true,
    ]);
  });

  test("of an event everything is known but gaps", () => {
    const bell: SeriesInfo = { device: "k", reading: "Bell", kind: "event" };
    const samples = samplesOf([at(1), "single"], [at(1, 1), "single"], [at(9), "double"]);
    const gaps: Gap[] = [{ from: at(4), to: at(5), why: "disk" }];
    const all = answered(bell, samples, { ask: "count" }, { gaps });
    expect([all.facts.count, all.unknown_ms]).toEqual([3, HOUR]);
    expect(answered(bell, samples, { ask: "count", is: "single" }).facts.count).toBe(2);
    expect(textOf(answered(bell, samples, { ask: "last" }), "last")).toContain("last double Mon 09:00");
  });

  test("every part of a period is known or not, and nothing twice", () => {
    const time = fc.integer({ min: 0, max: 100 }).map((minute) => MONDAY + minute * MINUTE);
    const sample = fc.record({ at: time, value: fc.constantFrom(true, false, null) });
    const gap = fc
      .record({ from: time, to: time, why: fc.constant("disk" as const) })
      .map(({ from, to, why }) => ({ from: Math.min(from, to), to: Math.max(from, to), why }));
    fc.assert(
      fc.property(fc.array(sample), fc.array(gap, { maxLength: 4 }), fc.boolean(), (all, gaps, isMoment) => {
        const samples = all.toSorted((a, b) => a.at - b.at);
        const period = { from: MONDAY + 10 * MINUTE, to: MONDAY + 90 * MINUTE };
        const inOrder = gaps.toSorted((a, b) => a.from - b.from);
        const pieces = piecesOf({ samples, gaps: inOrder }, period, isMoment);
        expect(pieces[0]?.from).toBe(period.from);
        expect(pieces.at(-1)?.to).toBe(period.to);
        for (const [nth, piece] of pieces.entries()) {
          expect(piece.to).toBeGreaterThanOrEqual(piece.from);
          if (nth > 0) expect(piece.from).toBe(pieces[nth - 1]?.to);
          // Within a gap nothing is known.
          const middle = (piece.from + piece.to) / 2;
          if (gaps.some(({ from, to }) => from < middle && middle < to)) expect(piece.value).toBeNull();
        }
      }),
    );
  });
});

test.each([
  [
    "duration of a number without a limit",
    ROOM,
    samplesOf([MONDAY, 20]),
    { ask: "duration" },
    /^is: 'duration' needs/,
  ],
  ["a mean of states", DOOR, opened, { ask: "mean" }, /^ask: 'mean' needs numbers/],
  [
    "a state that a door has not",
    DOOR,
    opened,
    { ask: "count", is: "purple" },
    /^is: this reading is open or closed/,
  ],
  [
    "a state of a number",
    ROOM,
    samplesOf([MONDAY, 20]),
    { ask: "count", is: "warm" },
    /^is: this reading has numbers/,
  ],
] as const)("%s is refused with what would be right", (_, info, samples, question, error) => {
  expect(() => answered(info, samples, question)).toThrow(error);
});

test.each([
  ["contact", "Contact"],
  ["CONTACT", "Contact"],
  ["temperature", undefined],
  ["kitchen temperature", "Kitchen temperature"],
  ["battery", "Battery level"],
])("the reading %s is %s", (asked, name) => {
  expect(closestReading(asked, ["Contact", "Kitchen temperature", "Hall temperature", "Battery level"])).toBe(
    name,
  );
});

test("what Home Assistant kept before is named as its", () => {
  const answer = answered(DOOR, opened, { ask: "count", is: "open" }, { since: at(42), earlier: at(42) });
  expect(textOf(answer, "count")).toMatch(
    /Kept since Tue 24 Nov 2026. Until Tue 18:00 as Home Assistant kept it.$/,
  );
  const sentence = (of: PastAnswer, ask: PastAsk) =>
    sentenceText(of, { name: "Front door", state: "open", ask, phrases: ENGLISH, zone: ZONE, now: NOW });
  expect(sentence(answer, "count")).toMatch(/ \(Home Assistant\)$/);
  // The last time is ours.
  const last = answered(DOOR, opened, { ask: "last", is: "open" }, { earlier: at(42) });
  expect(sentence(last, "last")).toBe("Front door: last open 14:52, until 14:53.");
});

test("an answer has never more than 300 tokens", () => {
  const samples = samplesOf(
    ...Array.from({ length: 200 }, (_, nth) => [MONDAY + nth * 20 * MINUTE, nth % 2 === 0] as const),
  );
  for (const ask of PAST_ASKS) {
    if (["min_max", "mean", "change"].includes(ask)) continue;
    const by = ask === "count" || ask === "duration" ? ("hour" as const) : undefined;
    const gaps: Gap[] = Array.from({ length: 9 }, (_, nth) => ({
      from: at(nth * 5),
      to: at(nth * 5, 10),
      why: "disk" as const,
    }));
    const tokens = textTokens(textOf(answered(DOOR, samples, { ask, by }, { gaps }), ask, by));
    expect(tokens, ask).toBeLessThanOrEqual(300);
  }
});

describe("a sentence for a person", () => {
  const said = (answer: PastAnswer, ask: PastAsk, phrases = ENGLISH, state = "open") =>
    sentenceText(answer, { name: "Front door", state, ask, phrases, zone: ZONE, now: NOW });
  const german = new Phrases(de);

  test("when last, since when, and when its end was not seen", () => {
    const last = answered(DOOR, opened, { ask: "last", is: "on" });
    expect(said(last, "last")).toBe("Front door: last open 14:52, until 14:53.");
    expect(said(last, "last", german, "offen")).toBe("Front door: zuletzt offen 14:52, bis 14:53.");
    const still = answered(DOOR, [...opened, { at: at(87), value: true }], { ask: "last" });
    expect(said(still, "last")).toBe("Front door: open since 15:00, for 10 min now.");
    const away = answered(DOOR, [...opened.slice(0, -1), { at: at(87), value: null }], { ask: "last" });
    expect(said(away, "last")).toBe("Front door: last open 14:52. Its end was not seen.");
  });

  test("how often and how long, with what is not known; nothing is not never", () => {
    const gaps: Gap[] = [{ from: at(27, 10), to: at(28, 40), why: "bridge" }];
    const samples = [...opened.slice(0, 3), { at: at(28, 40), value: false }, ...opened.slice(3)];
    const period = "Mon 23 Nov, 00:00 to 15:10";
    const count = answered(DOOR, samples, { ask: "count", is: "on" }, { gaps });
    expect(said(count, "count")).toBe(
      `Front door: open 3 times, ${period}. Not known: 1 h 30 min of that time.`,
    );
    const duration = answered(DOOR, opened, { ask: "duration", is: "on" });
    expect(said(duration, "duration")).toBe(`Front door: open for 16 min in all, ${period}.`);
    const never = answered(DOOR, opened.slice(0, 1), { ask: "last" });
    expect(said(never, "last")).toBe("Front door: not open since Mon 23 Nov, 00:00, as far as is known.");
    expect(said(answered(DOOR, [], { ask: "last", is: "open" }), "last")).toBe(
      "Front door: nothing is known of that time.",
    );
  });
});

describe("the times of a question", () => {
  const times = (more: Partial<Parameters<typeof timesOf>[0]>, since: number | null = MONDAY) => {
    const read = timesOf({ ask: "count", zone: ZONE, ...more }, NOW, since);
    return read.ok ? read.value : read.error;
  };

  test("are those of its words; 'last' looks back over all that is kept", () => {
    expect(times({ period: "yesterday", compare: "monday" })).toEqual({
      from: at(48),
      to: at(72),
      compare: { from: at(0), to: at(24) },
    });
    expect(times({ ask: "last" })).toEqual({ from: MONDAY, to: NOW });
    expect(times({ ask: "last" }, null)).toEqual({ from: NOW - 7 * 24 * HOUR, to: NOW });
  });

  test.each([
    [{ period: "tomorrow" }, /^period: expected/],
    [{ compare: "tomorrow" }, /^compare: expected/],
    [{ ask: "last", by: "day" }, /^by: leave it out with 'last'/],
    [{ ask: "list", compare: "yesterday" }, /^compare: leave it out with 'list'/],
    [{ period: "2027-01-01" }, /^period: it is not over yet/],
  ] as const)("%o is refused with the field that is wrong", (more, error) => {
    expect(times(more)).toMatch(error);
  });
});
