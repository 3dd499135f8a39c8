/**
 * `npm run bench -- --history`: what a year and more of values of 300 devices takes at home. A day is played through the recorder, its
 * file is copied to 400 days, and the questions of the tool `past` are asked of them.
 */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerPast, type PastAsked } from "@edgecall/core/history/answer.ts";
import type { SeriesInfo } from "@edgecall/core/history/sample.ts";
import { HistoryRecorder } from "@edgecall/node/history/recorder.ts";
import { messagesOf, modelHome } from "./model-home.ts";

const DAY_MS = 86_400_000;
const DAYS = 400;
const FIRST = Date.UTC(2026, 0, 1);
const MIB = 1_024 * 1_024;

const folder = mkdtempSync(join(tmpdir(), "edgecall-bench-history-"));
let now = FIRST;
const clock = { now: () => now, wall: () => now };
const quiet = () => {};
const dayText = (day: number) => new Date(FIRST + day * DAY_MS).toISOString().slice(0, 10);
const heap = () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MIB;
};
const written = () => Number(/^write_bytes: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1] ?? 0);

async function playDay(): Promise<void> {
  const recorder = await HistoryRecorder.open({
    folder,
    days: DAYS + 1,
    maxBytes: 2 ** 40,
    clock,
    log: quiet,
  });
  recorder.begin();
  const before = { heap: heap(), written: written() };
  const began = performance.now();
  let [messages, ticks] = [0, 0];
  for (const { info, at, value } of messagesOf(FIRST)) {
    if (Math.floor(at / 10_000) > ticks) {
      ticks = Math.floor(at / 10_000);
      now = Math.max(now, ticks * 10_000);
      await recorder.tick();
    }
    now = Math.max(now, at);
    recorder.came(info, value);
    messages += 1;
  }
  const played = performance.now() - began;
  await recorder.store.sync(now);
  const kept = heap() - before.heap;
  const log = statSync(join(folder, `${dayText(0)}.log`)).size;
  const reading: number[] = [];
  for (const { info } of modelHome().readings.slice(0, 20)) {
    const asked = performance.now();
    await recorder.store.read(info, FIRST, now);
    reading.push(performance.now() - asked);
  }
  const packing = performance.now();
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, heapNow());
  }, 1);
  const low = heapNow();
  await recorder.store.pack(FIRST + DAY_MS + 3_600_000);
  clearInterval(watch);
  const packed = performance.now() - packing;
  const file = statSync(join(folder, `${dayText(0)}.day`)).size;
  await recorder.store.close();
  console.log(`messages of a day            ${messages}`);
  console.log(`taking one                   ${((played / messages) * 1_000).toFixed(1)} µs`);
  console.log(`log of a day                 ${(log / MIB).toFixed(2)} MiB`);
  console.log(`reading one of it            ${Math.max(...reading).toFixed(0)} ms at most`);
  console.log(
    `file of a day                ${(file / MIB).toFixed(2)} MiB; ${DAYS} days ${((file * DAYS) / 1e6).toFixed(0)} MB`,
  );
  console.log(`written in a day             ${((written() - before.written) / MIB).toFixed(1)} MiB`);
  console.log(
    `memory: table and waiting    ${kept.toFixed(1)} MiB; packing ${(peak - low).toFixed(1)} MiB more, ${packed.toFixed(0)} ms`,
  );
}

function heapNow(): number {
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MIB;
}

async function ask(): Promise<void> {
  for (let day = 1; day < DAYS; day += 1)
    copyFileSync(join(folder, `${dayText(0)}.day`), join(folder, `${dayText(day)}.day`));
  now = FIRST + DAYS * DAY_MS;
  const opening = performance.now();
  const recorder = await HistoryRecorder.open({
    folder,
    days: DAYS + 1,
    maxBytes: 2 ** 40,
    clock,
    log: quiet,
  });
  console.log(
    `opening ${readdirSync(folder).length} files            ${(performance.now() - opening).toFixed(0)} ms`,
  );
  const of = (reading: string) =>
    modelHome()
      .readings.filter(({ info }) => info.reading === reading)
      .map(({ info }) => info);
  const days = (count: number) => ({ from: now - count * DAY_MS, to: now });
  const questions: Array<[string, SeriesInfo[], Omit<PastAsked, "zone">]> = [
    ["door: last open", of("Contact"), { ask: "last", is: "open", ...days(2) }],
    ["door: how often in a week", of("Contact"), { ask: "count", is: "open", ...days(7) }],
    ["door: each change of a day", of("Contact"), { ask: "list", ...days(1) }],
    ["pump: how long yesterday", of("Power"), { ask: "duration", is: ">5", ...days(1) }],
    ["room: extremes of a week", of("Temperature"), { ask: "min_max", ...days(7) }],
    ["room: mean of two weeks", of("Temperature"), { ask: "mean", ...days(14) }],
    ["meter: change of 30 days", of("Energy"), { ask: "change", ...days(30) }],
    ["door: never in 400 days", of("Contact"), { ask: "last", is: "open", ...days(400) }],
    ["room: a year by month", of("Temperature"), { ask: "mean", by: "month", ...days(365) }],
  ];
  for (const [name, series, question] of questions) {
    const times: number[] = [];
    for (const info of series.slice(0, 40)) {
      const began = performance.now();
      const kept = await recorder.store.read(info, question.from, question.to);
      const answer = answerPast(
        { zone: "Europe/Berlin", ...question },
        { info, kept, compared: undefined, example: null, since: FIRST },
      );
      times.push(performance.now() - began);
      if (!answer.ok) throw new Error(`${name}: ${answer.error}`);
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1).padStart(6);
    console.log(`${name.padEnd(28)} p50 ${at(0.5)}  p95 ${at(0.95)} ms`);
  }
  await recorder.store.close();
}

try {
  await playDay();
  await ask();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
