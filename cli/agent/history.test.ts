/** What an agent keeps of its own readings: printed, and deleted, while the agent's recorder has its files open. */
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HistoryRecorder } from "@edgecall/node/history/recorder.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CommandCall } from "../command.ts";
import { history } from "./history.ts";

const T0 = Date.UTC(2026, 10, 26, 12);
const DAY_MS = 86_400_000;
const FRIDGE = { device: "eye", reading: "fridge", unit: "°C", kind: "sensor" } as const;
const HEATER = { device: "eye", reading: "heater on", kind: "binary_sensor" } as const;

let state = "";
let now = T0;
let recorder: HistoryRecorder;
let out = "";
let err = "";

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), "agent-history-"));
  [out, err] = ["", ""];
  now = T0;
  const clock = { now: () => now, wall: () => now };
  const folder = join(state, "history");
  recorder = await HistoryRecorder.open({ folder, days: 400, maxBytes: 2 ** 30, clock, log: () => {} });
  recorder.begin();
  now += 5_000;
  recorder.came(FRIDGE, -18);
  recorder.came(HEATER, true);
  await recorder.store.sync(now);
  now += DAY_MS;
  await recorder.store.pack(now);
  recorder.came(FRIDGE, -12.5);
  await recorder.store.sync(now);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await recorder.store.close();
});

function run(options: Readonly<Record<string, string | true>>): Promise<number> {
  const given: Readonly<Record<string, string | true>> = { state, ...options };
  const call: CommandCall = {
    positionals: [],
    text: (option) => (typeof given[option] === "string" ? given[option] : undefined),
    flag: (option) => given[option] === true,
    env: {},
    io: {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      terminal: false,
      watched: false,
      person: false,
    },
  };
  return history(call);
}

test("all of it, and that of some days", async () => {
  expect(await run({})).toBe(0);
  expect(out.trim().split("\n").sort()).toEqual(
    [
      "time,device,reading,value,unit",
      "2026-11-26T12:00:05.000Z,eye,fridge,-18,°C",
      "2026-11-26T12:00:05.000Z,eye,heater on,true,",
      "2026-11-27T12:00:05.000Z,eye,fridge,-12.5,°C",
    ].sort(),
  );
  out = "";
  await run({ from: "2026-11-27", to: "2026-11-27" });
  expect(out.trim().split("\n").slice(1)).toEqual(["2026-11-27T12:00:05.000Z,eye,fridge,-12.5,°C"]);
  await expect(run({ to: "tomorrow" })).rejects.toThrow("--to: expected a day (UTC), as in 2026-11-26");
});

test("one day is deleted and nothing printed; today's is not", async () => {
  expect(await run({ delete: "2026-11-26" })).toBe(0);
  expect([out, err]).toEqual(["", expect.stringContaining("2026-11-26.day: deleted")]);
  expect(existsSync(join(state, "history", "2026-11-26.day"))).toBe(false);
  await expect(run({ delete: "2026-11-27" })).rejects.toThrow("or it is not over for an hour yet");
  await expect(run({ delete: "../eye" })).rejects.toThrow("--delete: expected a day (UTC)");
  await run({});
  expect(out.trim().split("\n").slice(1)).toEqual(["2026-11-27T12:00:05.000Z,eye,fridge,-12.5,°C"]);
});

test("all is forgotten: by what is printed at once, and by the agent that runs", async () => {
  now += 1_000;
  vi.spyOn(Date, "now").mockReturnValue(now);
  expect(await run({ forget: true })).toBe(0);
  expect([out, err]).toEqual(["", expect.stringContaining("its past is deleted, by the agent that runs")]);
  await run({});
  expect(out).toBe("time,device,reading,value,unit\n");
  await recorder.tick();
  expect((await recorder.store.read(FRIDGE, T0 - DAY_MS, now + 1_000)).samples).toEqual([]);
  // What comes afterwards is kept.
  now += 1_000;
  recorder.came(FRIDGE, -17);
  await recorder.store.sync(now);
  out = "";
  await run({});
  expect(out).toContain(",eye,fridge,-17,°C");
  expect(out).not.toContain("-18");
});

test("where nothing is kept it says what to do", async () => {
  const other = mkdtempSync(join(tmpdir(), "agent-history-"));
  await expect(run({ state: other })).rejects.toThrow(
    `${join(other, "history")}: nothing is kept there; with sudo, or --state FOLDER`,
  );
  await expect(run({ state: other, forget: true })).rejects.toThrow("nothing is kept there");
});
