import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { KnownState, WatchCondition } from "@edgecall/core/protocol/rules.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { until } from "../test/wait.ts";
import { WatchedRules } from "./watched-rules.ts";

const Place = z.object({ key: z.string() });
type Rules = WatchedRules<z.infer<typeof Place>>;

let path: string;
let now: number;
/** By how much the system's clock was set. */
let set: number;
let told: number;
let logged: string[];

beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), "rules-")), "rules.json");
  now = 1_800_000_000_000;
  set = 0;
  told = 0;
  logged = [];
});

async function open(): Promise<Rules> {
  const rules = await WatchedRules.open({
    path,
    place: Place,
    max: 3,
    log: (_, event) => void logged.push(event),
    onChanges: () => {
      told += 1;
    },
    clock: { now: () => now, wall: () => now + set },
  });
  onTestFinished(() => rules.stop());
  return rules;
}

function condition(id: string, more: Partial<WatchCondition> = {}): WatchCondition {
  return {
    id,
    version: 1,
    reading: "temperature",
    type: "number",
    is: "above",
    value: -15,
    hysteresis: 0.3,
    hold_ms: 0,
    clear_hold_ms: 0,
    repeat: "each_time",
    tell_own: false,
    ...more,
  };
}

const rule = (id: string, more: Partial<WatchCondition> = {}, known?: KnownState) => ({
  condition: condition(id, more),
  place: { key: "freezer" },
  known,
});
const onDisk = () => JSON.parse(readFileSync(path, "utf8")) as { changes: { seq: number }[] };

test("a change is on the disk before it may be sent, with the state that followed", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001")], drop: [] });
  rules.step("w-0001", { value: -11 });
  expect(rules.pending()).toEqual([]);
  await until(() => told > 0);
  expect(rules.pending()).toMatchObject([{ rule: "w-0001", seq: 1, state: "firing", value: -11 }]);
  expect(onDisk().changes).toMatchObject([{ seq: 1 }]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  // The next process has both: the change is sent again, and the firing is not told as another one.
  const next = await open();
  expect(next.pending()).toEqual(rules.pending());
  next.step("w-0001", { value: -10 });
  next.step("w-0001", { value: -16 });
  await until(() => next.pending().length === 2);
  expect(next.pending()).toMatchObject([
    { seq: 1, state: "firing" },
    { seq: 2, state: "idle", occurrence: 1 },
  ]);
});

test("values without a change write nothing", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001")], drop: [] });
  const written = () => [statSync(path).ino, statSync(path).mtimeMs];
  const before = written();
  for (let n = 0; n < 1_000; n += 1) rules.step("w-0001", { value: -18 - (n % 5) / 10 });
  await rules.stop();
  expect(written()).toEqual(before);
  expect(told).toBe(0);
});

test("what the gateway has is not sent again, also after a restart", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001"), rule("w-0002")], drop: [] });
  for (const id of ["w-0001", "w-0002"]) rules.step(id, { value: 0 });
  rules.step("w-0001", { value: -20 });
  await until(() => rules.pending().length === 3);
  rules.stored("w-0001", 1);
  expect(rules.pending().map(({ rule: of, seq }) => `${of}:${seq}`)).toEqual(["w-0002:1", "w-0001:2"]);
  await rules.stop();
  expect((await open()).pending().map(({ rule: of, seq }) => `${of}:${seq}`)).toEqual([
    "w-0002:1",
    "w-0001:2",
  ]);
});

test("a disk that refuses holds the change back, and it is sent when the disk takes it", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001")], drop: [] });
  // A folder in the place of the file that is renamed: no write can succeed.
  const folder = join(path, "..");
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "");
  rules.step("w-0001", { value: 0 });
  await until(() => logged.includes("rules.not_written"));
  expect([told, rules.pending()]).toEqual([0, []]);
  rmSync(folder);
  await rules.change({ set: [], drop: [] });
  expect([told, rules.pending().length]).toEqual([1, 1]);
});

test("100 changes wait; the oldest give way and are counted", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001")], drop: [] });
  for (let n = 0; n < 130; n += 1) rules.step("w-0001", { value: n % 2 ? -20 : 0 });
  await until(() => rules.pending().length === 100);
  expect([rules.pending()[0]?.seq, rules.lost]).toEqual([31, 30]);
  rules.stored("w-0001", 130);
  expect(rules.lost).toBe(0);
});

test("rules are set, replaced and dropped, and the hash tells which there are", async () => {
  const rules = await open();
  const none = rules.hash;
  await rules.change({ set: [rule("w-0002", { version: 4 }), rule("w-0001")], drop: [] });
  expect(rules.hash).toBe(
    await rulesHash([
      { id: "w-0001", version: 1 },
      { id: "w-0002", version: 4 },
    ]),
  );
  expect((await open()).hash).toBe(rules.hash);
  await rules.change({ set: [rule("w-0003")], drop: ["w-0001"] });
  expect(rules.versions()).toEqual({ "w-0002": 4, "w-0003": 1 });
  await rules.change({ set: [rule("w-0003")], drop: [], all: true });
  expect(rules.versions()).toEqual({ "w-0003": 1 });
  const full = await rules.change({ set: ["a", "b", "c"].map((n) => rule(`w-000${n}`)), drop: [] });
  expect(full).toEqual([{ id: "w-000c", why: expect.stringMatching(/at most 3 rules/) }]);
  const large = await rules.change({ set: [rule("w-0003", { reading: "x".repeat(9_000) })], drop: [] });
  expect(large).toEqual([{ id: "w-0003", why: expect.stringMatching(/at most 8192 are kept/) }]);
  expect(rules.versions()).not.toHaveProperty("w-0003");
  await rules.change({ set: [], drop: [], all: true });
  expect(rules.hash).toBe(none);
});

test("a rule that comes again is as it was; a new version goes on with its numbers and its firing", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001")], drop: [] });
  rules.step("w-0001", { value: 0 });
  await rules.change({ set: [rule("w-0001", {}, { seq: 0, occurrence: 0 })], drop: [] });
  rules.step("w-0001", { value: 0 });
  expect(rules.pending()).toHaveLength(1);
  await rules.change({ set: [rule("w-0001", { version: 2, value: 10 })], drop: [] });
  rules.step("w-0001", { value: 0 });
  await until(() => rules.pending().length === 2);
  expect(rules.pending()[1]).toMatchObject({ version: 2, seq: 2, state: "idle", occurrence: 1 });
});

test("a new version that comes while there is no value says when there is one again", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001")], drop: [] });
  rules.step("w-0001", { missing: true });
  now += 10 * 60_000;
  rules.step("w-0001", { tick: true });
  await rules.change({ set: [rule("w-0001", { version: 2, value: -10 })], drop: [] });
  rules.step("w-0001", { value: -18 });
  await until(() => rules.pending().length === 2);
  expect(rules.pending()).toMatchObject([
    { seq: 1, state: "unknown" },
    { seq: 2, state: "idle", version: 2 },
  ]);
});

test("where another place has watched before, its firing is not told again", async () => {
  const rules = await open();
  const known = { seq: 7, occurrence: 7, open: { at: now - 5_000, since: now - 6_000 } };
  await rules.change({ set: [rule("w-0001", {}, known)], drop: [] });
  rules.step("w-0001", { value: 0 });
  rules.step("w-0001", { value: -20 });
  await until(() => rules.pending().length === 1);
  expect(rules.pending()).toMatchObject([{ seq: 8, state: "idle", occurrence: 7 }]);
});

test("a rule of which the gateway counts further begins anew: what fired before fires again", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001")], drop: [] });
  rules.step("w-0001", { value: 0 });
  await rules.change({ set: [rule("w-0001", { version: 2 }, { seq: 100, occurrence: 0 })], drop: [] });
  rules.step("w-0001", { value: 0 });
  await until(() => rules.pending().length === 2);
  expect(rules.pending()).toMatchObject([
    { seq: 1, version: 1 },
    { seq: 101, state: "firing", version: 2, occurrence: 101 },
  ]);
});

test("a rule that was taken away and came back goes on behind its changes that wait", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001")], drop: [] });
  rules.step("w-0001", { value: 0 });
  await rules.change({ set: [], drop: ["w-0001"] });
  await rules.change({ set: [rule("w-0001")], drop: [] });
  rules.step("w-0001", { value: 0 });
  await until(() => rules.pending().length === 2);
  expect(rules.pending().map(({ seq }) => seq)).toEqual([1, 2]);
});

test("a hold is over by the timer alone", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001", { hold_ms: 40 })], drop: [] });
  rules.step("w-0001", { value: 0 });
  now += 40;
  await until(() => rules.pending().length === 1);
});

test("a damaged file counts as none", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001")], drop: [] });
  await rules.stop();
  writeFileSync(path, readFileSync(path, "utf8").slice(0, -20));
  const next = await open();
  expect([next.size, logged]).toEqual([0, ["rules.unreadable"]]);
});

test("how much of a stream was taken is written with what came of it", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001", { is: "happens", type: "text", value: undefined })], drop: [] });
  rules.taken.set("job", 1);
  rules.step("w-0001", { value: "opened" });
  await until(() => rules.pending().length === 1);
  expect([...(await open()).taken]).toEqual([["job", 1]]);
});

const HOUR = 3_600_000;
const JUMPS = [
  ["3 h ahead", 3 * HOUR],
  ["3 h back", -3 * HOUR],
  ["1 year ahead", 365 * 24 * HOUR],
  ["1 year back", -365 * 24 * HOUR],
] as const;

describe.each(JUMPS)("O11: a clock that is set %s", (_, by) => {
  test("begins a hold anew, which then says what was measured", async () => {
    const rules = await open();
    await rules.change({ set: [rule("w-0001", { hold_ms: 300_000, clear_hold_ms: 60_000 })], drop: [] });
    rules.step("w-0001", { value: -11 });
    now += 240_000;
    set = by;
    rules.step("w-0001", { value: -11 });
    const anew = now + set;
    expect(rules.pending()).toEqual([]);
    expect(logged).toEqual(["rules.clock_set"]);
    now += 299_999;
    rules.step("w-0001", { value: -11 });
    expect([...rules.all()][0]?.state.open).toBeUndefined();
    now += 1;
    rules.step("w-0001", { value: -11 });
    await until(() => told > 0);
    expect(rules.pending()).toMatchObject([{ state: "firing", since: anew, at: anew + 300_000 }]);
  });

  test("makes a firing no longer and no shorter", async () => {
    const rules = await open();
    await rules.change({ set: [rule("w-0001")], drop: [] });
    rules.step("w-0001", { value: -11 });
    await until(() => told > 0);
    now += 600_000;
    set = by;
    rules.step("w-0001", { value: -16 });
    await until(() => rules.pending().length === 2);
    const [, end] = rules.pending();
    expect(end).toMatchObject({ state: "idle", until: now + set, since: now + set - 600_000 });
  });

  test("makes no value older: silence is told after what was measured", async () => {
    const rules = await open();
    await rules.change({ set: [rule("w-0001", { stale_ms: 20 * 60_000 })], drop: [] });
    rules.step("w-0001", { value: -20 });
    now += 60_000;
    set = by;
    const state = () => [...rules.all()][0]?.state;
    rules.step("w-0001", { missing: true });
    expect(state()).toMatchObject({ unknown: false, last: { at: now + set - 60_000 } });
    now += 19 * 60_000;
    rules.step("w-0001", { missing: true });
    expect(state()).toMatchObject({ unknown: true });
  });

  test("neither ends nor stretches the time in which moments are gathered", async () => {
    const rules = await open();
    const press = { is: "happens", type: "text", value: undefined } as const;
    await rules.change({ set: [rule("w-0001", press)], drop: [] });
    rules.step("w-0001", { value: "single" });
    now += 10_000;
    set = by;
    rules.step("w-0001", { value: "single" });
    await until(() => told > 0);
    expect(rules.pending()).toMatchObject([{ count: 1 }]);
    now += 50_000;
    rules.step("w-0001", { value: "single" });
    await until(() => rules.pending().length === 2);
    expect(rules.pending()[1]).toMatchObject({ count: 2 });
  });

  test("between two runs of the program begins the hold anew", async () => {
    const rules = await open();
    await rules.change({ set: [rule("w-0001", { hold_ms: 300_000 })], drop: [] });
    rules.step("w-0001", { value: -11 });
    await rules.stop();
    now += 1_000;
    set = by;
    const next = await open();
    next.step("w-0001", { value: -11 });
    now += 299_000;
    next.step("w-0001", { value: -11 });
    expect(next.pending()).toEqual([]);
    now += 1_000;
    next.step("w-0001", { value: -11 });
    await until(() => next.pending().length === 1);
    expect(next.pending()).toMatchObject([{ since: now + set - 300_000 }]);
  });
});

test("a clock that is adjusted all the time, or set by seconds each minute, ends a hold when it was measured", async () => {
  const rules = await open();
  await rules.change({ set: [rule("w-0001", { hold_ms: HOUR }), rule("w-0002")], drop: [] });
  rules.step("w-0001", { value: -11 });
  const isFiring = () => [...rules.all()][0]?.state.open !== undefined;
  for (let minute = 1; minute <= 60; minute += 1) {
    expect([minute, isFiring()]).toEqual([minute, false]);
    now += 60_000;
    // NTP makes a clock faster by at most 500 millionths.
    set += minute < 50 ? 30 : minute % 2 ? 20_000 : -20_000;
    rules.step("w-0001", { value: -11 });
  }
  expect(isFiring()).toBe(true);
});
