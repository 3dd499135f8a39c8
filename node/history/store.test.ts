/** The store over restarts, days, cuts, clocks that are set, and deletes. */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { joined, piecesOf } from "@edgecall/core/history/pieces.ts";
import type { KeptValue, SeriesInfo } from "@edgecall/core/history/sample.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DAY_MS } from "./day-file.ts";
import { HistoryRecorder } from "./recorder.ts";

const T0 = Date.UTC(2026, 10, 26, 12);
const MINUTE = 60_000;
const DOOR: SeriesInfo = { device: "door", reading: "Contact", class: "door", kind: "binary_sensor" };
const ROOM: SeriesInfo = {
  device: "room",
  reading: "Temperature",
  unit: "°C",
  class: "temperature",
  kind: "sensor",
};

let folder = "";
let now = T0;
/** How far the clock on the wall is ahead of the steady one. */
let ahead = 0;
let logged: string[] = [];
const clock = { now: () => now, wall: () => now + ahead };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "history-"));
  now = T0;
  ahead = 0;
  logged = [];
});

const opened: HistoryRecorder[] = [];
afterEach(async () => {
  for (const recorder of opened.splice(0)) await recorder.store.close();
});

async function started(over: { days?: number; maxBytes?: number } = {}): Promise<HistoryRecorder> {
  const log = (_: string, event: string) => void logged.push(event);
  const recorder = await HistoryRecorder.open({ folder, days: 400, maxBytes: 2 ** 28, clock, log, ...over });
  opened.push(recorder);
  recorder.begin();
  return recorder;
}

/** Lets time go by as in the bridge. */
async function passes(recorder: HistoryRecorder, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 30_000) {
    now += Math.min(30_000, left);
    await recorder.tick();
  }
}

/** Values of the second in which the recorder began stand in the next one. */
const valuesOf = async (recorder: HistoryRecorder, info: SeriesInfo, from = T0 - DAY_MS, to = now + 1_001) =>
  (await recorder.store.read(info, from, to)).samples.map(({ at, value }) => [(at - T0) / 1_000, value]);

async function opens(recorder: HistoryRecorder, times: number): Promise<void> {
  for (let nth = 0; nth < times; nth += 1) {
    recorder.came(DOOR, nth % 2 === 0);
    await passes(recorder, 2 * MINUTE);
  }
}

test("what came is read at once, after a restart, and from the file of its day", async () => {
  const first = await started();
  recorderCame(first, DOOR, true);
  now += 5_000;
  recorderCame(first, DOOR, false);
  const wanted = [
    [1, true],
    [5, false],
  ];
  expect(await valuesOf(first, DOOR)).toEqual(wanted);
  await first.stop();
  const second = await started();
  expect(await valuesOf(second, DOOR)).toEqual(wanted);
  now += DAY_MS;
  await second.tick();
  expect(readdirSync(folder).filter((name) => name.startsWith("2026-11-26"))).toEqual(["2026-11-26.day"]);
  expect(await valuesOf(second, DOOR)).toEqual(wanted);
  expect(statSync(join(folder, "2026-11-26.day")).mode & 0o777).toBe(0o600);
});

function recorderCame(recorder: HistoryRecorder, info: SeriesInfo, value: KeptValue): void {
  recorder.came(info, value);
}

test("a state is on the disk within a minute, a number within five, and a quiet home writes a sign of life alone", async () => {
  const recorder = await started();
  recorder.came(DOOR, true);
  expect(recorder.store.waiting).toBe(1);
  await passes(recorder, MINUTE);
  expect(recorder.store.waiting).toBe(0);
  recorder.came(ROOM, 21.5);
  await passes(recorder, 4 * MINUTE);
  expect(recorder.store.waiting).toBe(1);
  await passes(recorder, MINUTE);
  expect(recorder.store.waiting).toBe(0);
  const bytes = recorder.store.bytes;
  await passes(recorder, 60 * MINUTE);
  expect(recorder.store.bytes - bytes).toBeLessThan(12 * 40);
});

test("a home without a device writes nothing", async () => {
  const recorder = await started();
  await passes(recorder, 30 * MINUTE);
  await recorder.stop();
  expect(readdirSync(folder)).toEqual([]);
});

test("a kill costs what was not written, and the answer has that gap", async () => {
  const killed = await started();
  await opens(killed, 2);
  killed.came(DOOR, true);
  now += 30_000;
  killed.came(DOOR, false);
  // No stop: the process is gone. The log ends in the middle of a block.
  const [name = ""] = readdirSync(folder);
  const path = join(folder, name);
  truncateSync(path, statSync(path).size - 3);
  now += 10 * MINUTE;
  const next = await started();
  const kept = await next.store.read(DOOR, T0, now);
  expect(kept.samples.map(({ value }) => value)).toEqual([true, false].slice(0, kept.samples.length));
  const last = piecesOf(kept, { from: T0, to: now }).at(-1);
  expect(last).toMatchObject({ to: now, value: null, why: "bridge" });
  expect(last?.from).toBeLessThanOrEqual(now - 10 * MINUTE);
  next.came(DOOR, true);
  await next.stop();
  expect((await valuesOf(await started(), DOOR)).at(-1)).toEqual([(now - T0) / 1_000 + 1, true]);
});

/** @returns parts of time of which nothing is known since a clock was set, in seconds since T0 */
async function unknownByClock(recorder: HistoryRecorder, from: number, to: number): Promise<number[][]> {
  const pieces = piecesOf(await recorder.store.read(DOOR, from, to), { from, to });
  const missing = joined(pieces, (a, b) => a.value === null && b.value === null && a.why === b.why);
  return missing
    .filter(({ why }) => why === "clock")
    .map((one) => [(one.from - T0) / 1_000, (one.to - T0) / 1_000]);
}

test("a clock that is set ahead or back is a gap over both of its times", async () => {
  const recorder = await started();
  recorder.came(DOOR, true);
  await passes(recorder, 20 * MINUTE);
  ahead = 3 * 3_600_000;
  await passes(recorder, MINUTE);
  const later = () => recorder.now() + 60_000;
  expect(await unknownByClock(recorder, T0, later())).toEqual([[1_230, (later() - T0) / 1_000]]);
  recorder.came(DOOR, true);
  expect(await unknownByClock(recorder, T0, later())).toEqual([[1_230, 12_060]]);
  await passes(recorder, MINUTE);
  ahead = 0;
  await passes(recorder, MINUTE);
  expect(await unknownByClock(recorder, T0, now)).toEqual([[1_230, 1_380]]);
  recorder.came(DOOR, false);
  // What was said three hours ahead is not known when that time comes.
  now += 3 * 3_600_000;
  expect(await unknownByClock(recorder, T0, now)).toEqual([
    [1_230, 1_380],
    [12_030, (now - T0) / 1_000],
  ]);
});

test("a clock that was years ahead for an hour leaves that hour alone, also after restarts and where the bridge began with it", async () => {
  const years = 40 * 365 * DAY_MS;
  const hour = 60 * MINUTE;
  const first = await started();
  recorderCame(first, DOOR, true);
  await passes(first, hour);
  ahead = years;
  await passes(first, hour / 2);
  recorderCame(first, DOOR, true);
  await first.stop();
  const second = await started();
  await passes(second, hour / 2);
  recorderCame(second, DOOR, true);
  await passes(second, 10 * MINUTE);
  ahead = 0;
  await passes(second, MINUTE);
  const back = now;
  recorderCame(second, DOOR, false);
  await passes(second, hour);
  const known = async (recorder: HistoryRecorder) => {
    const { samples, gaps } = await recorder.store.read(DOOR, T0, now);
    const pieces = piecesOf({ samples, gaps }, { from: T0, to: now });
    return pieces.flatMap(({ from, to, value }) => (value === null ? [] : [[from - T0, to - T0, value]]));
  };
  const wanted = [
    [1_000, 3_630_000, true],
    [back - T0, now - T0, false],
  ];
  expect(await known(second)).toEqual(wanted);
  await second.stop();
  const third = await started();
  expect((await known(third)).slice(0, 2)).toEqual(wanted);
  // Also of a day that was not there yet.
  now += DAY_MS;
  await third.tick();
  recorderCame(third, DOOR, true);
  now += hour;
  expect((await known(third)).at(-1)).toEqual([now - hour - T0, now - T0, true]);
  await third.stop();
  const fourth = await started();
  now += DAY_MS;
  recorderCame(fourth, DOOR, false);
  now += hour;
  expect((await known(fourth)).at(-1)).toEqual([now - hour - T0, now - T0, false]);
});

test("of a machine that starts with an old time nothing is known until its clock was set", async () => {
  const recorder = await started();
  await passes(recorder, MINUTE);
  recorder.came(DOOR, true);
  await passes(recorder, MINUTE);
  ahead = 3 * 3_600_000;
  await passes(recorder, MINUTE);
  const end = recorder.now() + 1_000;
  expect(await unknownByClock(recorder, T0, end)).toEqual([[0, (end - T0) / 1_000]]);
});

test("values of a day that is packed already are added to its file", async () => {
  const recorder = await started();
  ahead = 2 * DAY_MS;
  recorder.came(DOOR, true);
  await recorder.store.sync(recorder.now());
  ahead = 0;
  recorder.came(DOOR, false);
  await recorder.store.sync(recorder.now());
  await recorder.store.pack(T0 + 3 * DAY_MS);
  now += 2 * DAY_MS;
  await recorder.store.add(DOOR, { at: now + 5_000, value: false });
  await recorder.store.sync(now);
  await recorder.store.pack(T0 + 4 * DAY_MS);
  expect((await valuesOf(recorder, DOOR, T0, now + DAY_MS)).map(([, value]) => value)).toEqual([
    false,
    true,
    false,
  ]);
});

test("a log that was packed and is there still, as after a power cut, is not read twice", async () => {
  const recorder = await started();
  await opens(recorder, 5);
  await recorder.store.sync(now);
  const log = readFileSync(join(folder, "2026-11-26.log"));
  await recorder.store.pack(T0 + 2 * DAY_MS);
  await recorder.store.close();
  writeFileSync(join(folder, "2026-11-26.log"), log);
  const next = await started();
  expect(readdirSync(folder)).toEqual(["2026-11-26.day"]);
  expect(await valuesOf(next, DOOR)).toHaveLength(5);
});

test("a time whose end was read before is the same as one that is read at once", async () => {
  const recorder = await started();
  for (let day = 0; day < 4; day += 1) {
    await opens(recorder, 3);
    await recorder.store.sync(now);
    now += DAY_MS;
    await recorder.store.pack(now);
  }
  const from = T0 - DAY_MS;
  const whole = await recorder.store.read(DOOR, from, now);
  expect(whole.samples.length).toBeGreaterThan(8);
  for (const end of [T0 + 1_000, T0 + DAY_MS + 3 * MINUTE, now - 1]) {
    const later = await recorder.store.read(DOOR, end, now);
    expect(await recorder.store.read(DOOR, from, now, { later })).toEqual(whole);
  }
});

describe("what is too much", () => {
  test("days that are older than wanted go", async () => {
    const recorder = await started({ days: 3 });
    for (let day = 0; day < 6; day += 1) {
      recorder.came(ROOM, day);
      await recorder.store.sync(recorder.now());
      now += DAY_MS;
      await recorder.store.pack(now);
    }
    expect(readdirSync(folder).sort()).toEqual(["2026-11-30.day", "2026-12-01.day"]);
  });

  test("a clock that is years ahead for a while makes no day old", async () => {
    const recorder = await started({ days: 30 });
    recorderCame(recorder, DOOR, true);
    now += DAY_MS;
    recorderCame(recorder, DOOR, false);
    await recorder.tick();
    ahead = 40 * 365 * DAY_MS;
    now += 2 * 3_600_000;
    recorderCame(recorder, DOOR, true);
    await recorder.tick();
    now += 2 * 3_600_000;
    await recorder.tick();
    expect(readdirSync(folder)).toContain("2026-11-26.day");
  });

  test("the oldest days go where all have too many bytes", async () => {
    const recorder = await started({ maxBytes: 2_000 });
    for (let day = 0; day < 20; day += 1) {
      for (let nth = 0; nth < 20; nth += 1)
        recorder.store.add(ROOM, { at: now + nth * 61_000, value: (nth * 7_919) % 991 });
      await recorder.store.sync(now);
      now += DAY_MS;
      await recorder.store.pack(now);
    }
    expect(recorder.store.bytes).toBeLessThanOrEqual(2_000);
    expect(recorder.store.days().length).toBeGreaterThan(3);
  });

  test("more readings than are kept are said once, and left out", async () => {
    const recorder = await started();
    for (let nth = 0; nth < 3_002; nth += 1) recorder.came({ ...ROOM, device: `d${nth}` }, 1);
    expect(recorder.store.waiting).toBe(3_000);
    expect(logged.filter((event) => event === "history.full")).toHaveLength(1);
  });
});

describe("deleted", () => {
  test("a device is in no answer at once, in no file then, and comes back with what is new", async () => {
    const recorder = await started();
    await opens(recorder, 3);
    recorder.came(ROOM, 21);
    await recorder.store.sync(now);
    await recorder.store.pack(T0 + 2 * DAY_MS);
    recorder.came(DOOR, true);
    await recorder.store.sync(now);
    now += MINUTE;
    const done = recorder.store.forget("door", now);
    await Promise.resolve();
    await done;
    expect(await valuesOf(recorder, DOOR)).toEqual([]);
    expect(await valuesOf(recorder, ROOM)).toHaveLength(1);
    expect(readdirSync(folder)).not.toContain("deleting.json");
    recorder.came(DOOR, false);
    expect(await valuesOf(recorder, DOOR)).toHaveLength(1);
    await recorder.stop();
    expect(await valuesOf(await started(), DOOR)).toHaveLength(1);
  });

  test("a delete that was ended in the middle goes on", async () => {
    const recorder = await started();
    await opens(recorder, 3);
    await recorder.store.sync(now);
    await recorder.store.pack(T0 + 2 * DAY_MS);
    await recorder.stop();
    writeFileSync(join(folder, "deleting.json"), JSON.stringify({ door: now }));
    const next = await started();
    expect(await valuesOf(next, DOOR)).toEqual([]);
    await next.store.resume();
    expect(readdirSync(folder)).not.toContain("deleting.json");
    expect(await valuesOf(next, DOOR)).toEqual([]);
  });

  test("a device that another program wants to be forgotten meanwhile is not overlooked", async () => {
    const recorder = await started();
    recorderCame(recorder, DOOR, true);
    await recorder.store.sync(now);
    const file = join(folder, "deleting.json");
    const deleting = recorder.forget("door");
    while (!existsSync(file)) await setImmediate();
    const asked = JSON.parse(readFileSync(file, "utf8")) as Record<string, number>;
    writeFileSync(file, JSON.stringify({ ...asked, room: now }));
    await deleting;
    expect(recorder.store.wanted()).toEqual(["room"]);
  });

  test("a day is gone, and the others are there", async () => {
    const recorder = await started();
    await opens(recorder, 3);
    now += DAY_MS;
    recorder.came(DOOR, true);
    await recorder.store.sync(now);
    await recorder.store.deleteDay(Math.floor(T0 / DAY_MS));
    expect((await valuesOf(recorder, DOOR)).map(([, value]) => value)).toEqual([true]);
  });
});

test("the value of a day does not hold over the next one where that is deleted, also after a restart", async () => {
  const recorder = await started();
  for (let day = 0; day < 3; day += 1) {
    recorder.came(DOOR, true);
    await recorder.store.sync(recorder.now());
    now += DAY_MS;
    await recorder.store.pack(now);
  }
  const middle = Math.floor(T0 / DAY_MS) + 1;
  const gone = { from: middle * DAY_MS, to: (middle + 1) * DAY_MS, why: "gone" };
  await recorder.store.deleteDay(middle);
  expect((await recorder.store.read(DOOR, T0, now)).gaps).toContainEqual(gone);
  await recorder.stop();
  expect((await (await started()).store.read(DOOR, T0, now)).gaps).toContainEqual(gone);
});

test("a damaged file is said, and the other days are read", async () => {
  const recorder = await started();
  await opens(recorder, 3);
  await recorder.store.sync(now);
  await recorder.store.pack(T0 + 2 * DAY_MS);
  await recorder.stop();
  const path = join(folder, "2026-11-26.day");
  const bytes = readFileSync(path);
  bytes[10] = (bytes[10] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const next = await started();
  next.came(DOOR, true);
  expect(await valuesOf(next, DOOR)).toHaveLength(1);
  expect(logged).toContain("history.damaged");
});

test("a file that cannot be read now is not damaged: a question says so, and is answered when it can be", async () => {
  const recorder = await started();
  await opens(recorder, 3);
  await recorder.store.sync(now);
  await recorder.store.pack(T0 + 2 * DAY_MS);
  await recorder.store.close();
  const program = fileURLToPath(new URL("./testkit/cannot-read.ts", import.meta.url));
  const file = join(folder, "2026-11-26.day");
  const day = String(Date.UTC(2026, 10, 26));
  const run = ["-c", 'ulimit -n 64 && exec "$0" "$@"', process.execPath, program, file, day];
  const { stdout, stderr } = spawnSync("sh", run, { encoding: "utf8" });
  expect(stderr).toBe("");
  const { whole, full, later, forbidden, isToGo, allowed, logged: said } = JSON.parse(stdout);
  expect(whole).toMatch(/^3 values, \d gaps$/);
  expect(full).toMatch(/^the file of 2026-11-26 cannot be read now: EMFILE/);
  expect(later).toBe(whole);
  expect(forbidden).toMatch(/^the file of 2026-11-26 cannot be read now: EACCES/);
  expect([isToGo, allowed]).toEqual([true, whole]);
  expect(said).toEqual(["warn history.not_read", "warn history.not_read", "info history.device_deleted"]);
});
