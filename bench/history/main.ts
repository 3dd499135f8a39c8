/**
 * `npm run bench -- --history`: what a year and more of values of 300 devices takes at home. Seven days are played through the recorder,
 * their files are copied to 400 days, an eighth day is today's log, and the bridge is asked each question of the tool `past`, by a program with
 * the flags of its service: it runs without an optimizing compiler.
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { SeriesInfo } from "@edgecall/core/history/sample.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import { DayFile, DayFileMaker } from "@edgecall/node/history/day-file.ts";
import { HistoryRecorder } from "@edgecall/node/history/recorder.ts";
import { BridgeHistory } from "../../bridge/history/bridge-history.ts";
import { NODE_FLAGS } from "../../pi-agent/config/node-options.ts";
import { messagesOf, modelHome } from "./model-home.ts";

const DAY_MS = 86_400_000;
const DAYS = 400;
const PLAYED = 7;
const FIRST = Date.UTC(2026, 0, 1);
const ASKED_OF = 40;
const MIB = 1_024 * 1_024;

/** Of the program that asks; the folder stands behind it. */
const ASK = "--ask";
const asked = process.argv.indexOf(ASK);
const folder =
  (asked > 0 && process.argv[asked + 1]) || mkdtempSync(join(tmpdir(), "edgecall-bench-history-"));
let now = FIRST;
const clock = { now: () => now, wall: () => now };
const quiet = () => {};
const OPTIONS = { folder, days: DAYS + 1, maxBytes: 2 ** 40, clock, log: quiet };
const pathOf = (day: number, end: string) =>
  join(folder, `${new Date(FIRST + day * DAY_MS).toISOString().slice(0, 10)}${end}`);
const heapNow = () => {
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MIB;
};
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const heap = () => {
  collect();
  return heapNow();
};
const written = () => Number(/^write_bytes: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1] ?? 0);
/** Ms of the processor that this program took. */
const worked = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
const say = (what: string, figure: string) => console.log(`${what.padEnd(29)}${figure}`);

/** @returns messages that came, and ms that they took */
async function play(recorder: HistoryRecorder, day: number, seed: number) {
  const began = performance.now();
  const from = FIRST + day * DAY_MS;
  let [messages, ticks] = [0, 0];
  for (const { info, at, value } of messagesOf(from, seed)) {
    if (Math.floor((at - from) / 10_000) > ticks) {
      ticks = Math.floor((at - from) / 10_000);
      now = Math.max(now, from + ticks * 10_000);
      await recorder.tick();
    }
    now = Math.max(now, at);
    recorder.came(info, value);
    messages += 1;
  }
  await recorder.store.sync(now);
  return { messages, ms: performance.now() - began };
}

async function playDays(): Promise<void> {
  const recorder = await HistoryRecorder.open(OPTIONS);
  recorder.begin();
  const before = heap();
  const all: { log: number; file: number; written: number }[] = [];
  for (let day = 0; day < PLAYED; day += 1) {
    const begun = written();
    const { messages, ms } = await play(recorder, day, day);
    const kept = heap() - before;
    const log = statSync(pathOf(day, ".log")).size;
    const packing = performance.now();
    let peak = 0;
    const low = heapNow();
    const watch = setInterval(() => {
      peak = Math.max(peak, heapNow());
    }, 1);
    now = FIRST + (day + 1) * DAY_MS + 660_000;
    await recorder.store.pack(now);
    clearInterval(watch);
    all.push({ log, file: statSync(pathOf(day, ".day")).size, written: written() - begun });
    if (day > 0) continue;
    say("messages of a day", `${messages}`);
    say("taking one", `${((ms / messages) * 1_000).toFixed(1)} µs`);
    say("table and waiting values", `${kept.toFixed(1)} MiB`);
    say(
      "packing a day",
      `${(peak - low).toFixed(1)} MiB more, ${(performance.now() - packing).toFixed(0)} ms`,
    );
  }
  await recorder.store.close();
  const most = (of: "log" | "file" | "written") => Math.max(...all.map((one) => one[of]));
  const sum = all.reduce((bytes, { file }) => bytes + file, 0);
  say("log of a day", `${(most("log") / MIB).toFixed(2)} MiB at most`);
  say("file of a day", `${(most("file") / MIB).toFixed(2)} MiB at most`);
  say(`${DAYS} days`, `${((sum / PLAYED) * DAYS * 1e-6).toFixed(0)} MB`);
  say("written in a day", `${(most("written") / 1e6).toFixed(1)} MB at most`);
}

async function playToday(): Promise<void> {
  for (let day = PLAYED; day < DAYS - 1; day += 1)
    copyFileSync(pathOf(day % PLAYED, ".day"), pathOf(day, ".day"));
  writeLastDay();
  now = FIRST + DAYS * DAY_MS;
  const today = await HistoryRecorder.open(OPTIONS);
  today.begin();
  await play(today, DAYS, DAYS);
  await today.stop();
}

/** It says that the bridge was there until its end: behind a gap nothing would be known of all days before. */
function writeLastDay(): void {
  const day = FIRST / DAY_MS + DAYS - 1;
  const made = new DayFileMaker(day);
  for (const series of DayFile.of(readFileSync(pathOf((DAYS - 1) % PLAYED, ".day")), day).all())
    made.add(series);
  writeFileSync(
    pathOf(DAYS - 1, ".day"),
    made.done({ gaps: [], alive: FIRST + DAYS * DAY_MS - 1_000, source: 0 }),
  );
}

async function ask(): Promise<void> {
  now = FIRST + (DAYS + 1) * DAY_MS - 1_000;
  const { readings } = modelHome();
  const opening = performance.now();
  const history = await BridgeHistory.open({
    folder,
    days: DAYS + 1,
    catalog: {
      keysOf: () => [],
      mark: (at) => ({ message: 0, at }),
      earlierOf: () => undefined,
      sourcedReadings: (key) =>
        readings
          .filter(({ info }) => info.device === key)
          .map(({ info: { reading, unit, class: of, kind } }) => ({
            name: reading,
            kind,
            ...(unit !== undefined && { unit }),
            ...(of !== undefined && { class: of }),
            value: kind === "sensor" ? 1 : true,
            text: "",
            at: now,
            tainted: false,
            message: 1,
            known: 1,
            retained: false,
            from: "mqtt" as const,
          })),
    },
    ask: async () => ({ why: "it cannot be asked" }),
    keyOf: (agent) => agent,
    clock,
    gateway: { send: () => true },
    log: quiet,
  });
  say(`opening ${readdirSync(folder).length} files`, `${(performance.now() - opening).toFixed(0)} ms`);
  const of = (reading: string) =>
    readings.filter(({ info }) => info.reading === reading).map(({ info }) => info);
  type Asked = Pick<PastQuestion, "ask"> & Partial<PastQuestion>;
  const questions: Array<[string, SeriesInfo[], Asked]> = [
    ["door: last open", of("Contact"), { ask: "last", is: "open" }],
    ["door: each change of a day", of("Contact"), { ask: "list", period: "24 h" }],
    ["door: how often in a week", of("Contact"), { ask: "count", is: "open", period: "7 d" }],
    ["pump: how long yesterday", of("Power"), { ask: "duration", is: ">5", period: "yesterday" }],
    ["room: extremes of a week", of("Temperature"), { ask: "min_max", period: "7 d" }],
    [
      "room: mean of two weeks",
      of("Temperature"),
      { ask: "mean", period: "this week", compare: "last week" },
    ],
    ["meter: change of 30 days", of("Energy"), { ask: "change", period: "30 d", by: "week" }],
    ["room: a chart of a week", of("Temperature"), { ask: "chart", period: "7 d" }],
    ["plug: why, from the last", of("Switch"), { ask: "last", is: "on" }],
    ["window: never open", of("Contact").slice(-1), { ask: "last", is: "open" }],
    ["power: what never was", of("Power"), { ask: "last", is: ">9000" }],
    ["400 days: a door's rows", of("Contact"), { ask: "list", is: "open", period: "400 d" }],
    ["400 days: how often open", of("Contact"), { ask: "count", is: "open", by: "month", period: "400 d" }],
    ["400 days: how long on", of("Switch"), { ask: "duration", is: "on", by: "month", period: "400 d" }],
    [
      "400 days: how long above 5 W",
      of("Power"),
      { ask: "duration", is: ">5", by: "month", period: "400 d" },
    ],
    ["400 days: a room's extremes", of("Temperature"), { ask: "min_max", by: "month", period: "400 d" }],
    ["400 days: mean of a power", of("Power"), { ask: "mean", by: "month", period: "400 d" }],
    ["400 days: a meter's change", of("Energy"), { ask: "change", by: "month", period: "400 d" }],
    ["400 days: chart of a room", of("Temperature"), { ask: "chart", period: "400 d" }],
    ["400 days: chart of a door", of("Contact"), { ask: "chart", period: "400 d" }],
    ["room: a year by month", of("Temperature"), { ask: "mean", by: "month", period: "365 d" }],
  ];
  for (const [name, series, question] of questions) {
    const times: number[] = [];
    const work: number[] = [];
    for (const { device, reading } of series.slice(0, ASKED_OF)) {
      const [began, before] = [performance.now(), worked()];
      const whole = { agent: device, name: "It", reading, zone: "Europe/Berlin", ...question };
      const answer = await history.answer(whole);
      times.push(performance.now() - began);
      work.push(worked() - before);
      if ("error" in answer) throw new Error(`${name}: ${answer.error}`);
    }
    const at = (all: readonly number[], share: number) =>
      (all.toSorted((a, b) => a - b)[Math.floor(share * (all.length - 1))] ?? 0).toFixed(1).padStart(6);
    const figures = `p50 ${at(times, 0.5)}  p95 ${at(times, 0.95)} ms`;
    say(name, `${figures}, of the processor p50 ${at(work, 0.5)}  p95 ${at(work, 0.95)} ms`);
  }
  await history.stop();
}

if (asked > 0) await ask();
else
  try {
    await playDays();
    await playToday();
    const program = fileURLToPath(new URL("../main.ts", import.meta.url));
    const args = [...NODE_FLAGS, program, "--history", ASK, folder];
    const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
process.exit();
