/** The time before our first value is asked of Home Assistant, which keeps some days by itself; the answer says so. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SeriesInfo } from "@edgecall/core/history/sample.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import type { EarlierPast, SourcedReading } from "@edgecall/discovery/model/device.ts";
import type { Past } from "@edgecall/discovery/model/entity/entity.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BridgeHistory } from "./bridge-history.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A Thursday, on which the bridge is new. */
const FIRST = Date.UTC(2026, 10, 26, 9);
const DOOR: SeriesInfo = { device: "door", reading: "Contact", class: "door", kind: "binary_sensor" };

let folder = "";
let now = FIRST;
let count = 0;
let value: boolean | null = null;
let history: BridgeHistory;
/** The questions to Home Assistant. */
let asked: Past[] = [];
let answers = true;

const reading = (): SourcedReading => ({
  name: DOOR.reading,
  kind: DOOR.kind,
  class: "door",
  value,
  text: String(value),
  at: now,
  tainted: false,
  message: count,
  known: count,
  retained: false,
  from: "home-assistant",
});
/** It was opened twice on the day before, for an hour each. */
const ROWS = [
  { at: FIRST - DAY, value: false },
  { at: FIRST - 20 * HOUR, value: true },
  { at: FIRST - 19 * HOUR, value: false },
  { at: FIRST - 10 * HOUR, value: true },
  { at: FIRST - 9 * HOUR, value: false },
];
const EARLIER: EarlierPast = {
  source: "home-assistant",
  reachMs: 7 * DAY,
  ask: (from, to) => ({
    pastOf: "door",
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  }),
  values: (response) => response as typeof ROWS,
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "history-"));
  [now, count, value, asked, answers] = [FIRST, 0, null, [], true];
  const ask = async (_: string, question: Past) => {
    asked.push(question);
    return answers ? { response: ROWS } : { why: "Home Assistant did not answer" };
  };
  history = await BridgeHistory.open({
    folder,
    days: 400,
    catalog: {
      keysOf: () => ["door"],
      mark: (at) => ({ message: count, at }),
      sourcedReadings: () => [reading()],
      earlierOf: (_key, name) => (name === DOOR.reading ? EARLIER : undefined),
    },
    ask,
    keyOf: (agent) => agent,
    clock: { now: () => now, wall: () => now },
    gateway: { send: () => true },
    log: () => {},
  });
  history.sourceUp("home-assistant");
});
afterEach(async () => {
  await history.stop();
  rmSync(folder, { recursive: true, force: true });
});

function says(open: boolean, at: number): void {
  [now, value] = [at, open];
  count += 1;
  history.onMessage(() => []);
}

async function answer(more: Partial<PastQuestion>): Promise<string> {
  const question = {
    agent: "door",
    name: "Front door",
    reading: "Contact",
    ask: "count",
    zone: "UTC",
    ...more,
  };
  const reply = await history.answer(question as PastQuestion);
  return "text" in reply ? reply.text : reply.error;
}

test("what was before our first value counts with what came since", async () => {
  says(false, FIRST + HOUR);
  says(true, FIRST + 2 * HOUR);
  now = FIRST + 3 * HOUR;
  expect(await answer({ is: "open", period: "2 d" })).toMatch(
    /: open 3 times; last open 11:00, and still\.[\s\S]*Until 10:00 as Home Assistant kept it\.$/,
  );
  expect(asked).toEqual([
    {
      pastOf: "door",
      from: new Date(FIRST + 3 * HOUR - 2 * DAY).toISOString(),
      to: new Date(FIRST + HOUR).toISOString(),
    },
  ]);
});

test("of a door that has not moved since, all that is known is Home Assistant's; a sentence names it too", async () => {
  now = FIRST + HOUR;
  expect(await answer({ ask: "last", is: "open" })).toMatch(/: last open Wed 23:00, until 00:00\./);
  const sentence = { language: "en", state: "open" } as const;
  expect(await answer({ ask: "last", sentence })).toMatch(/^Front door: last open .* \(Home Assistant\)$/);
});

test("a time that is ours alone is not asked for, nor one where the source does not answer", async () => {
  says(false, FIRST + HOUR);
  answers = false;
  now = FIRST + 2 * HOUR;
  expect(await answer({ is: "open", period: "2 d" })).not.toContain("Home Assistant");
  expect(asked).toHaveLength(1);
  says(false, FIRST + 3 * DAY);
  now += HOUR;
  expect(await answer({ is: "open", period: "24 h" })).not.toContain("Home Assistant");
  expect(asked).toHaveLength(1);
});
