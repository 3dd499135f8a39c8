/** What is kept, as CSV, while a recorder has its files open. */
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HistoryRecorder } from "@edgecall/node/history/recorder.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CommandCall } from "../command.ts";
import { history } from "./history.ts";

const T0 = Date.UTC(2026, 10, 26, 12);
const DAY_MS = 86_400_000;
let state = "";
let now = T0;
let recorder: HistoryRecorder;
let out = "";

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), "history-"));
  out = "";
  now = T0;
  const clock = { now: () => now, wall: () => now };
  recorder = await HistoryRecorder.open({
    folder: join(state, "history"),
    days: 400,
    maxBytes: 2 ** 30,
    clock,
    log: () => {},
  });
  recorder.begin();
  now += 5_000;
  recorder.came({ device: "key-1", reading: "Temperature", unit: "°C", kind: "sensor" }, -1.5);
  recorder.came({ device: "key-2", reading: 'Mode, "main"', kind: "select" }, "=1+1");
  await recorder.store.sync(now);
  now += DAY_MS;
  await recorder.store.pack(now);
  recorder.absent({ device: "key-1", reading: "Temperature", unit: "°C" });
  await recorder.store.sync(now);
  writeFileSync(
    join(state, "devices.json"),
    JSON.stringify({ ids: [{ key: "key-1", id: "freezer", identities: [] }] }),
  );
});
afterEach(async () => {
  vi.restoreAllMocks();
  await recorder.store.close();
});

function keep(text: string): void {
  out += text;
}

function run(options: Readonly<Record<string, string>>): Promise<number> {
  const call: CommandCall = {
    positionals: [],
    text: (option) => ({ state, ...options })[option as "state"],
    flag: () => false,
    env: {},
    io: { out: keep, err: () => {}, terminal: false, watched: false, person: false },
  };
  return history(call);
}

test("all of it, with the devices' ids; nothing is a formula", async () => {
  expect(await run({})).toBe(0);
  expect(out.trim().split("\n").sort()).toEqual(
    [
      "time,device,reading,value,unit",
      "2026-11-26T12:00:05.000Z,freezer,Temperature,-1.5,°C",
      `2026-11-26T12:00:05.000Z,key-2,"Mode, ""main""",'=1+1,`,
      "2026-11-27T12:00:05.000Z,freezer,Temperature,,°C",
    ].sort(),
  );
});

test("of one device, and of some days", async () => {
  await run({ device: "freezer", to: "2026-11-26" });
  expect(out.trim().split("\n").slice(1)).toEqual(["2026-11-26T12:00:05.000Z,freezer,Temperature,-1.5,°C"]);
  await expect(run({ device: "nobody" })).rejects.toThrow("--device: the bridge knows no device 'nobody'");
  await expect(run({ from: "yesterday" })).rejects.toThrow("--from: expected a day (UTC), as in 2026-11-26");
});

test("a device is forgotten by the program that keeps it, and by the CSV at once", async () => {
  now += 1_000;
  vi.spyOn(Date, "now").mockReturnValue(now);
  await run({ forget: "freezer" });
  await run({});
  expect(out).not.toContain("freezer");
  expect(out).toContain("key-2");
  await recorder.tick();
  const series = { device: "key-1", reading: "Temperature", unit: "°C" };
  expect((await recorder.store.read(series, T0 - DAY_MS, now + 1_000)).samples).toEqual([]);
  expect(existsSync(join(state, "history", "deleting.json"))).toBe(false);
  await expect(run({ forget: "nobody" })).rejects.toThrow("--forget: nothing is kept of a device 'nobody'");
  expect(await run({ forget: "key-2" })).toBe(0);
});

test("a day is deleted, and the program that keeps it says that it is gone", async () => {
  await run({ delete: "2026-11-26" });
  expect(existsSync(join(state, "history", "2026-11-26.day"))).toBe(false);
  const series = { device: "key-1", reading: "Temperature", unit: "°C" };
  const { samples, gaps } = await recorder.store.read(series, T0 - DAY_MS, now + 1_000);
  expect(samples.map(({ value }) => value)).toEqual([null]);
  expect((await recorder.store.read(series, T0, now + 1_000)).gaps).toContainEqual(
    expect.objectContaining({ why: "gone" }),
  );
  expect(gaps.every(({ why }) => why !== "disk")).toBe(true);
  await expect(run({ delete: "2026-11-20" })).rejects.toThrow("there is no such day");
});
