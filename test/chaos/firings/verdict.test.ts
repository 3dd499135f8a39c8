/** Tests the verdict on invented seasons: a sound one passes, and each kind of error is found. */
import { expect, test } from "vitest";
import type { FiringRecord, SeasonHistory } from "./history.ts";
import { judgeSeason } from "./verdict.ts";

const CROSSED = 1_000;

function firing(more: Partial<FiringRecord> = {}): FiringRecord {
  return {
    name: "F0001",
    kind: "hosted",
    told: "api",
    value: 101,
    once: false,
    recovers: false,
    k: 0,
    fault: "kill:worker",
    moment: "leaves",
    met: true,
    crossedAt: CROSSED,
    ...more,
  };
}

const FIRED = "🚨 F0001: 101 °C at 12:00 (limit 50 °C). Dial F0001.";
const OVER = "✓ F0001: over at 12:02, 10 °C. It lasted 2 min. Dial F0001.";

function season(texts: readonly string[], more: Partial<SeasonHistory> = {}): SeasonHistory {
  return {
    season: 0,
    firings: [firing()],
    noticed: texts.map((text, n) => ({ text, at: CROSSED + 100 + n, conversation: "c" })),
    shown: { telegram: [], generic: [] },
    taken: { telegram: [], generic: [] },
    brokerAway: [],
    lossy: [],
    occurrences: new Map([["F0001", 1]]),
    troubles: [],
    ...more,
  };
}

const kinds = (history: SeasonHistory) => judgeSeason(history).map(({ kind }) => kind);

test("a firing that is told once, with its end, is sound", () => {
  expect(judgeSeason(season([FIRED]))).toEqual([]);
  expect(judgeSeason(season([FIRED, OVER]))).toEqual([]);
});

test("a message that gathers several is read by the rules that it names", () => {
  const other = firing({ name: "F0002", value: 102 });
  const text = `Several at once:\n• F0001: 101 °C at 12:00 (limit 50 °C). Dial F0001.\n• F0002: 102 °C at 12:00 (limit 50 °C). Dial F0002.`;
  expect(judgeSeason(season([text], { firings: [firing(), other] }))).toEqual([]);
  expect(kinds(season([text]))).toEqual(["invented"]);
});

test("a firing that is not told is lost", () => {
  expect(kinds(season([]))).toEqual(["lost"]);
  // Its end tells nobody that it was.
  expect(kinds(season([OVER]))).toEqual(["lost", "over", "over"]);
});

test("a firing that is told twice is found", () => {
  expect(kinds(season([FIRED, FIRED]))).toEqual(["twice"]);
  const twice = "🚨 F0001: 2 times since 12:00, last at 12:01. It goes on. Dial F0001.";
  expect(kinds(season([twice]))).toEqual(["invented"]);
});

test("what did not cross, or not so, is invented", () => {
  expect(kinds(season([FIRED.replaceAll("F0001", "F0009"), FIRED]))).toEqual(["invented"]);
  expect(kinds(season([FIRED.replace("101", "99")]))).toEqual(["invented"]);
  const early = [{ text: FIRED, at: CROSSED - 1, conversation: "c" }];
  expect(kinds(season([], { noticed: early }))).toEqual(["invented"]);
  expect(kinds(season([FIRED], { occurrences: new Map([["F0001", 2]]) }))).toEqual(["invented"]);
});

test("a device is offline also when its broker is away, and then again", () => {
  const told = "🚨 F0001: offline since 12:00. Dial F0001.";
  const presence = { firings: [firing({ kind: "presence" })] };
  const early = [{ text: told, at: CROSSED - 10, conversation: "c" }];
  expect(kinds(season([], { ...presence, noticed: early }))).toEqual(["invented"]);
  expect(kinds(season([], { ...presence, noticed: early, brokerAway: [CROSSED - 20] }))).toEqual([]);
  const again = { ...presence, occurrences: new Map([["F0001", 2]]) };
  expect(kinds(season([told, told], again))).toEqual([]);
  expect(kinds(season([told, told], presence))).toEqual(["twice"]);
});

test("an end is told once, after its firing", () => {
  expect(kinds(season([FIRED, OVER, OVER]))).toEqual(["over"]);
  expect(kinds(season([OVER, FIRED]))).toEqual(["over"]);
});

test("a chat is told again only where the answer to the first message may have been lost", () => {
  const firings = [firing({ told: "telegram" })];
  const taken = [
    { text: FIRED, at: 5_000 },
    { text: FIRED, at: 6_000 },
  ];
  const chat = {
    firings,
    shown: { telegram: [FIRED, FIRED], generic: [] },
    taken: { telegram: taken, generic: [] },
  };
  expect(kinds(season([], chat))).toEqual(["again"]);
  expect(kinds(season([], { ...chat, lossy: [{ from: 4_900, to: 5_100 }] }))).toEqual([]);
});

test("a platform that can tell repeats shows a message once", () => {
  const firings = [firing({ told: "generic" })];
  const lossy = [{ from: 0, to: 10_000 }];
  expect(kinds(season([], { firings, lossy, shown: { telegram: [], generic: [FIRED, FIRED] } }))).toEqual([
    "twice",
  ]);
  // The confirmation of a watch that was made.
  const confirmed = "Watching Dial F0001: tells you here “F0001” when temperature is above 50 °C.";
  expect(kinds(season([], { firings, shown: { telegram: [], generic: [confirmed] } }))).toEqual(["lost"]);
});
