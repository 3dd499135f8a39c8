/** Questions whose whole days are read in short are answered as those for which all values are read. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerPast, canAnswer, needsOf, type PastAsked } from "@edgecall/core/history/answer.ts";
import type { KeptValue, SeriesInfo } from "@edgecall/core/history/sample.ts";
import { PAST_ASKS, PAST_STEPS } from "@edgecall/core/protocol/past.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY_MS } from "./day-file.ts";
import { HistoryStore } from "./store.ts";

const FIRST = Date.UTC(2026, 9, 20) / DAY_MS;
const DAYS = 8;
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"] as const;

type Kind = {
  info: Omit<SeriesInfo, "device">;
  value: (random: () => number) => KeptValue;
  is: readonly string[];
};

const KINDS: readonly Kind[] = [
  {
    info: { reading: "Temperature", unit: "°C", class: "temperature", kind: "sensor" },
    value: (random) => Math.round((random() * 30 - 8) * 10) / 10,
    is: [">5", "<=21.5", "=4", ">100", "at least 0"],
  },
  {
    info: { reading: "Energy", unit: "kWh", class: "energy", kind: "sensor" },
    value: (random) => (random() < 0.1 ? 0 : Math.round(random() * 1_000) / 100),
    is: [">5"],
  },
  // Close to 0, or far from it: a limit in the room between needs no value.
  {
    info: { reading: "Power", unit: "W", class: "power", kind: "sensor" },
    value: (random) =>
      random() < 0.6
        ? Math.floor(random() * 3) / 10
        : Math.round(3_000 + random() * 100 + 8e3 * (random() < 0.2 ? 1 : 0)) / 10,
    is: [">5", "<=5", ">0", "<0.1", ">=400", "=0", "above 305"],
  },
  { info: { reading: "Ratio", kind: "sensor" }, value: (random) => random() / 3, is: [">0.2"] },
  {
    info: { reading: "Contact", class: "door", kind: "binary_sensor" },
    value: (random) => random() < 0.5,
    is: ["open", "closed"],
  },
  { info: { reading: "Window", class: "window", kind: "binary_sensor" }, value: () => false, is: ["open"] },
  {
    info: { reading: "Mode", kind: "select" },
    value: (random) => ["heat", "off", "Heat", "cool"][Math.floor(random() * random() * 4)] ?? "off",
    is: ["heat", "off", "boost"],
  },
  {
    info: { reading: "Button", kind: "event" },
    value: (random) => (random() < 0.7 ? "single" : "double"),
    is: ["double", "single"],
  },
  // Of two kinds on some days.
  {
    info: { reading: "Mixed", kind: "sensor" },
    value: (random) => (random() < 0.9 ? Math.round(random() * 10) : "idle"),
    is: [">5", "idle"],
  },
];

/** Numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A few days of each kind: quiet ones, busy ones, some without a value; and what makes a part of time unknown. */
async function filled(
  folder: string,
  random: () => number,
): Promise<{ store: HistoryStore; series: SeriesInfo[] }> {
  const store = await HistoryStore.open({ folder, days: 400, maxBytes: 2 ** 28, log: () => {} });
  const series = KINDS.map(({ info }, nth) => ({ device: `device-${nth % 3}`, ...info }));
  const late: Array<() => void> = [];
  for (let day = FIRST; day < FIRST + DAYS; day += 1) {
    for (const [nth, info] of series.entries()) {
      const count = Math.floor(random() ** 3 * 60);
      const times = Array.from({ length: count }, () => Math.floor(random() * 86_400) * 1_000);
      // Some come within one second, and at its beginning.
      if (random() < 0.3) times.push(...times.slice(0, 3), 0);
      let value = KINDS[nth]?.value(random) ?? 0;
      for (const time of times.sort((a, b) => a - b)) {
        if (random() < 0.6) value = KINDS[nth]?.value(random) ?? 0;
        const sample = { at: day * DAY_MS + time, value: random() < 0.02 ? null : value };
        if (random() < 0.005) late.push(() => store.add(info, sample));
        else store.add(info, sample);
      }
    }
    if (random() < 0.25) {
      const from = day * DAY_MS + Math.floor(random() * DAY_MS);
      store.addGap({ from, to: from + Math.floor(random() ** 4 * 1.5 * DAY_MS), why: "bridge" });
    }
    await store.sync((day + 1) * DAY_MS - 1_000);
    if (day < FIRST + DAYS - 1) await store.pack((day + 1) * DAY_MS + 3_600_000);
  }
  for (const add of late) add();
  if (random() < 0.3) await store.sync((FIRST + DAYS) * DAY_MS - 500);
  if (random() < 0.2)
    await store.forget("device-1", (FIRST + Math.floor(random() * DAYS)) * DAY_MS + 40_000_000);
  if (random() < 0.3) await store.deleteDay(FIRST + Math.floor(random() * DAYS));
  return { store, series };
}

function questionOf(random: () => number, is: readonly string[]): PastAsked {
  const any = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const zone = any(ZONES);
  const end = (FIRST + DAYS) * DAY_MS;
  const part = () => {
    const isRound = random() < 0.5;
    const [a, b] = [random() ** 2, random()].map((share, nth) => {
      const at = nth === 0 ? FIRST * DAY_MS + share * DAYS * DAY_MS : end - share ** 3 * DAYS * DAY_MS;
      return Math.round(at / (isRound ? DAY_MS : 1_000)) * (isRound ? DAY_MS : 1_000);
    });
    const [from, to] = [Math.min(a ?? 0, b ?? 0), Math.max(a ?? 0, b ?? 0)];
    return { from, to: Math.max(to, from + 3_600_000) };
  };
  const ask = any(PAST_ASKS);
  const { from, to } = part();
  const isOne = ask === "last" || ask === "list" || ask === "chart";
  const state = random() < 0.8 ? any(is) : undefined;
  const by = !isOne && random() < 0.5 ? any(PAST_STEPS) : undefined;
  const compare = !isOne && random() < 0.2 ? part() : undefined;
  return { ask, from, to, zone, ...(state && { is: state }), ...(by && { by }), ...(compare && { compare }) };
}

/** A sum in another order differs in its last digits, and one that is 0 by less than any decimal that is kept. */
function rounded(value: unknown): unknown {
  if (typeof value === "number" && Math.abs(value) < 1e-9) return 0;
  if (typeof value === "number" && !Number.isInteger(value)) return Number(value.toPrecision(9)) + 0;
  if (Array.isArray(value)) return value.map(rounded);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rounded(one)]));
}

test("a year's question, from days in short, is answered as by all values", {
  timeout: 300_000,
}, async () => {
  let [short, asked] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const random = randomOf(seed);
      const folder = mkdtempSync(join(tmpdir(), "history-short-"));
      const { store, series } = await filled(folder, random);
      try {
        for (let nth = 0; nth < 60; nth += 1) {
          const number = Math.floor(random() * series.length);
          const info = series[number] as SeriesInfo;
          const question = questionOf(random, KINDS[number]?.is ?? []);
          const read = async (isShort: boolean) => {
            const part = ({ from, to }: { from: number; to: number }) =>
              store.read(
                info,
                from,
                to,
                isShort ? { needs: needsOf(question, { info, example: null }) } : {},
              );
            const compared = question.compare && (await part(question.compare));
            return { info, kept: await part(question), compared, example: null, since: FIRST * DAY_MS };
          };
          const whole = await read(false);
          const quick = await read(true);
          if (!canAnswer(question, quick)) continue;
          asked += 1;
          if (quick.kept.samples.some(({ stretch }) => stretch)) short += 1;
          expect(rounded(answerPast(question, quick)), JSON.stringify({ info, question })).toEqual(
            rounded(answerPast(question, whole)),
          );
        }
      } finally {
        await store.close();
        rmSync(folder, { recursive: true, force: true });
      }
    }),
    // In these the last number is in a day in short, and what follows is none.
    { numRuns: 12, examples: [[474523961], [-1258197938]] },
  );
  expect(short / asked).toBeGreaterThan(0.2);
});

test("a file of the first form, without days in short, is read, and written anew in the new form", async () => {
  const day = Date.UTC(2026, 10, 26) / DAY_MS;
  const folder = mkdtempSync(join(tmpdir(), "history-first-form-"));
  const path = join(folder, "2026-11-26.day");
  copyFileSync(new URL("./fixtures/first-form.day", import.meta.url), path);
  const store = await HistoryStore.open({ folder, days: 400, maxBytes: 2 ** 28, log: () => {} });
  const info: SeriesInfo = { device: "door", reading: "Contact", class: "door", kind: "binary_sensor" };
  const question: PastAsked = {
    ask: "count",
    is: "open",
    zone: "UTC",
    from: (day - 1) * DAY_MS,
    to: (day + 1) * DAY_MS,
  };
  const answer = async () => {
    const kept = await store.read(info, question.from, question.to, {
      needs: needsOf(question, { info, example: null }),
    });
    return [
      kept.samples.some(({ stretch }) => stretch),
      answerPast(question, { info, kept, compared: undefined, example: null, since: question.from }),
    ] as const;
  };
  const [isShort, first] = await answer();
  expect([isShort, first]).toMatchObject([false, { ok: true, value: { facts: { count: 2 } } }]);
  const before = readFileSync(path);
  await store.forget("room", (day + 1) * DAY_MS);
  expect(before.toString("latin1").endsWith("EHD1")).toBe(true);
  expect(readFileSync(path, "latin1").endsWith("EHD2")).toBe(true);
  expect(await answer()).toEqual([true, first]);
  await store.close();
});
