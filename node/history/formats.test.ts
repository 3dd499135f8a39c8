/** The bytes of the log and of a day's file: what was written is read, and what is damaged is not. */

import type { KeptValue, Sample, SeriesInfo } from "@edgecall/core/history/sample.ts";
import { inShort } from "@edgecall/core/history/stretch.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readBlocks, toBlock } from "./block-log.ts";
import { ByteReader, ByteWriter, scaleOf } from "./bytes.ts";
import { DAY_MS, DayFile, DayFileMaker, type DaySeries, seriesHash, TICK_MS } from "./day-file.ts";
import { decodeEntries, type Entry, encodeEntries } from "./records.ts";
import { readShort, writeShort } from "./short-bytes.ts";

const DAY = 20_783;

const number = fc.oneof(
  fc.integer({ min: -(10 ** 7), max: 10 ** 7 }),
  fc.integer({ min: -(10 ** 9), max: 10 ** 9 }).map((whole) => whole / 100),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const value = fc
  .oneof(number, fc.boolean(), fc.string({ maxLength: 60, unit: "grapheme" }), fc.constant(null))
  .map(
    // 0 has no sign here.
    (one) => (one === 0 ? 0 : one),
  );
const text = fc.string({ maxLength: 30, unit: "grapheme" });
const info: fc.Arbitrary<SeriesInfo> = fc
  .record({ device: text, reading: text, unit: text, class: text, kind: text })
  .map(({ unit, class: of, ...named }) => ({
    ...named,
    ...(unit !== "" && { unit }),
    ...(of !== "" && { class: of }),
  }));
const at = fc.integer({ min: 0, max: DAY_MS / TICK_MS - 1 }).map((tick) => DAY * DAY_MS + tick * TICK_MS);
const gap = fc.record({
  from: at,
  to: at,
  why: fc.constantFrom("bridge" as const, "clock" as const, "disk" as const),
});
const id = fc.nat({ max: 3_000 });
const entry: fc.Arbitrary<Entry> = fc.oneof(
  fc.record({ of: fc.constant("series" as const), id, info }),
  fc.record({ of: fc.constant("value" as const), id, at, value }),
  fc.record({ of: fc.constant("coarse" as const), id }),
  fc.record({ of: fc.constant("gap" as const), gap }),
  fc.record({ of: fc.constant("alive" as const), at }),
);

test("records are read as they were written", () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 60 }), (entries) => {
      expect(decodeEntries(encodeEntries(entries, DAY * DAY_MS))).toEqual(entries);
    }),
  );
});

test("whole numbers of each length are read as they were written", () => {
  const around = [239, 495, 2_287, 2 ** 16, 2 ** 24, 2 ** 32, 2 ** 40, 2 ** 48];
  const all = [0, ...around.flatMap((one) => [one - 1, one, one + 1]), Number.MAX_SAFE_INTEGER];
  const out = new ByteWriter();
  for (const one of all) out.unsigned(one);
  const read = new ByteReader(out.done());
  expect(all.map(() => read.unsigned())).toEqual(all);
  expect(read.isAtEnd).toBe(true);
});

test("a number with few decimals is a whole number; any other one stays exact too", () => {
  expect([scaleOf(21), scaleOf(21.64), scaleOf(-0.1), scaleOf(0.1 + 0.2), scaleOf(1e300)]).toEqual([
    0,
    2,
    1,
    undefined,
    undefined,
  ]);
});

const samples = fc
  .array(fc.record({ at, value }), { minLength: 1, maxLength: 40 })
  .map((all): Sample[] => all.sort((a, b) => a.at - b.at));
const numbers = fc
  .array(
    fc.record({
      at,
      value: fc.oneof(
        fc.integer({ min: -500, max: 500 }).map((n) => n / 10),
        fc.constant(null),
      ),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((all): Sample[] =>
    all.map((one) => (one.value === 0 ? { ...one, value: 0 } : one)).sort((a, b) => a.at - b.at),
  );
const series: fc.Arbitrary<DaySeries> = fc.record({
  info,
  samples: fc.oneof(samples, numbers),
  isCoarse: fc.boolean(),
});
const day = fc
  .uniqueArray(series, {
    maxLength: 30,
    selector: ({ info: { device, reading, unit } }) => `${device}\0${reading}\0${unit}`,
  })
  .map((all) => all.sort((a, b) => hashOf(a) - hashOf(b)));

function hashOf({ info: { device, reading } }: DaySeries): number {
  return seriesHash(device, reading);
}

function fileOf(all: readonly DaySeries[], gaps: Parameters<DayFileMaker["done"]>[0]["gaps"] = []): Buffer {
  const made = new DayFileMaker(DAY);
  for (const one of all) made.add(one);
  return made.done({ gaps, alive: DAY * DAY_MS + 5, source: 7 });
}

describe("a day's file", () => {
  test("has each series, its gaps, and until when the bridge was there", () => {
    fc.assert(
      fc.property(day, fc.array(gap, { maxLength: 5 }), (all, gaps) => {
        const file = DayFile.of(fileOf(all, gaps), DAY);
        expect(file.gaps).toEqual(gaps);
        expect([file.alive, file.source]).toEqual([DAY * DAY_MS + 5, 7]);
        expect([...file.all()]).toEqual(all);
        for (const one of all) expect(file.find(one.info)).toEqual(one);
        expect(file.find({ device: "none", reading: "none" })).toBeUndefined();
      }),
    );
  });

  test("with a flipped bit says so, or has what was written", () => {
    fc.assert(
      fc.property(day, fc.nat(), fc.nat({ max: 7 }), (all, at, bit) => {
        const bytes = fileOf(all);
        const place = at % bytes.length;
        bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
        let read: DaySeries[];
        try {
          read = [...DayFile.of(bytes, DAY).all()];
        } catch (error) {
          expect(String(error)).toMatch(/damaged|no file of a day/);
          return;
        }
        expect(read).toEqual(all);
      }),
      { numRuns: 500 },
    );
  });
});

/** Of states that came once at the most, the hours are those of their one span. */
function withHours(short: readonly Sample[]): Sample[] {
  return short.map(({ stretch, ...sample }) => {
    if (stretch?.about.of !== "states") return { ...sample, ...(stretch && { stretch }) };
    const states = stretch.about.states.map(({ hours, ...state }) =>
      state.count > 1 && hours !== undefined ? { ...state, hours } : state,
    );
    return { ...sample, stretch: { ...stretch, about: { ...stretch.about, states } } };
  });
}

test("a day in short is read as it was written, with the rooms between its numbers and the hours of its states", () => {
  const form = { from: DAY * DAY_MS, to: (DAY + 1) * DAY_MS, tickMs: TICK_MS };
  const values: fc.Arbitrary<{ of: fc.Arbitrary<KeptValue>; scale: number | undefined }> = fc.constantFrom(
    { of: fc.constantFrom<KeptValue>(0, 0.1, 0.2, 20, 300, 301.5), scale: 1 },
    { of: fc.integer({ min: -400, max: 400 }), scale: 0 },
    { of: fc.boolean(), scale: undefined },
    { of: fc.constantFrom<KeptValue>("heat", "off", "cool"), scale: undefined },
  );
  const day = values.chain(({ of, scale }) =>
    fc
      .array(fc.record({ at, value: fc.option(of, { freq: 20 }) }), { minLength: 2, maxLength: 60 })
      .map((all) => ({ scale, samples: all.sort((a, b) => a.at - b.at) })),
  );
  let seen = 0;
  fc.assert(
    fc.property(day, ({ samples: all, scale }) => {
      const short = inShort(all, false);
      if (!short) return;
      const out = new ByteWriter();
      writeShort(out, short, { ...form, scale });
      const read = readShort(new ByteReader(out.done()), { ...form, scale });
      expect(read).toEqual(withHours(short));
      for (const { stretch } of read) if (stretch?.about.of === "numbers" && stretch.about.rooms) seen += 1;
    }),
    { numRuns: 300 },
  );
  expect(seen).toBeGreaterThan(20);
});

/** 900 cases: a log of 30 blocks that ends anywhere, has zeros at its end, or a flipped bit. */
describe("a log after a power cut is a true prefix", () => {
  const blocks = Array.from({ length: 30 }, (_, nth) =>
    encodeEntries(
      Array.from(
        { length: nth % 7 },
        (_, one): Entry => ({ of: "value", id: one, at: DAY * DAY_MS + nth * 1_000, value: nth / 10 }),
      ),
      DAY * DAY_MS,
    ),
  );
  const whole = Buffer.concat(blocks.map(toBlock));
  const ends = blocks.map((_, nth) => Buffer.concat(blocks.slice(0, nth + 1).map(toBlock)).length);
  const isPrefix = (file: Buffer) => {
    const read = readBlocks(file);
    expect(read.blocks.map((block) => block.toString("hex"))).toEqual(
      blocks.slice(0, read.blocks.length).map((block) => block.toString("hex")),
    );
    return read;
  };
  const place = (nth: number) => Math.floor((nth / 300) * whole.length);

  test("cut anywhere: all blocks that are whole, and no other", () => {
    for (let nth = 0; nth < 300; nth += 1) {
      const at = place(nth);
      expect(isPrefix(whole.subarray(0, at)).blocks).toHaveLength(ends.filter((end) => end <= at).length);
    }
  });

  test("cut anywhere and filled with zeros", () => {
    for (let nth = 0; nth < 300; nth += 1) {
      const at = place(nth);
      const padded = Buffer.concat([whole.subarray(0, at), Buffer.alloc(4_096)]);
      // Zeros that were there anyway may make a block whole.
      expect(isPrefix(padded).blocks.length).toBeGreaterThanOrEqual(ends.filter((end) => end <= at).length);
    }
  });

  test("a flipped bit: all blocks before it, and none of those behind it", () => {
    for (let nth = 0; nth < 300; nth += 1) {
      const at = place(nth);
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (nth % 8));
      expect(isPrefix(flipped).blocks).toHaveLength(ends.filter((end) => end <= at).length);
    }
  });
});
