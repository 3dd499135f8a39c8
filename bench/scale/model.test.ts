import { expect, test } from "vitest";
import { type Counts, limitsReached, monthOf, storedBytes, type Use } from "./model.ts";

const TURN = {
  workerRequests: 1,
  objectRequests: 6,
  homeRequests: 2,
  rowsRead: 100,
  rowsWritten: 8,
  awakeMs: 30,
};
const COUNTS: Counts = {
  first: { ...TURN, rowsWritten: 20 },
  later: TURN,
  presence: { messages: 1, rowsRead: 3, rowsWritten: 1 },
  homeBytes: 200_000,
  agentBytes: 20_000,
  conversationBytes: 100_000,
  turnBytes: 1_000,
  turnBytesInHome: 500,
  heapBytes: 8_000_000,
  agentHeapBytes: 16_000,
  agentListBytes: 600,
  turnCpuMs: 5,
};
const USE: Use = {
  agents: 3,
  turnsADay: 10,
  turnsInConversation: 5,
  modelSeconds: 2,
  presenceChangesADay: 1,
  monthsKept: 2,
};

test("a month of one home: turns, first turns among them, and agents that come and go", () => {
  const { turns, amounts, totalUsd } = monthOf(COUNTS, USE, 1);
  expect(turns).toBe(300);
  expect(amounts.workerRequests).toBeCloseTo(300);
  // 90 changes of presence are 90 messages, a twentieth of a request each.
  expect(amounts.objectRequests).toBeCloseTo(300 * 6 + 90 / 20);
  expect(amounts.rowsWritten).toBeCloseTo(60 * 20 + 240 * 8 + 90);
  expect(amounts.rowsRead).toBeCloseTo(300 * 100 + 90 * 3);
  expect(amounts.gbSeconds).toBeCloseTo(300 * 2.03 * 0.128);
  // The plan includes all of it.
  expect(totalUsd).toBe(5);
});

test("a home stores its adverts, two days of calls, and conversations for as long as they are kept", () => {
  const conversations = 120;
  const bytes = 200_000 + 2 * 20_000 + 20 * 500 + conversations * 100_000 + (600 - conversations) * 1_000;
  expect(storedBytes(COUNTS, USE)).toBe(bytes);
});

test("beyond what the plan includes, each amount costs its price", () => {
  const { amounts, usd, totalUsd } = monthOf(COUNTS, USE, 1_000_000);
  expect(usd.rowsWritten).toBeCloseTo((amounts.rowsWritten - 50e6) / 1e6);
  expect(usd.objectRequests).toBeCloseTo(((amounts.objectRequests - 1e6) * 0.15) / 1e6);
  expect(usd.gbSeconds).toBeCloseTo(((amounts.gbSeconds - 400_000) * 12.5) / 1e6);
  expect(usd.storedGb).toBeCloseTo((amounts.storedGb - 5) * 0.2);
  expect(totalUsd).toBeCloseTo(5 + Object.values(usd).reduce((sum, part) => sum + part, 0));
});

test("amounts grow with the homes", () => {
  const one = monthOf(COUNTS, USE, 1).amounts;
  const many = monthOf(COUNTS, USE, 1_000).amounts;
  for (const key of Object.keys(one) as Array<keyof typeof one>)
    expect(many[key]).toBeCloseTo(1_000 * one[key]);
});

test("the limits, the lowest of each unit first", () => {
  const reached = limitsReached(COUNTS);
  const agents = reached.filter(({ unit }) => unit === "agents");
  expect(agents.map(({ at }) => Math.floor(at))).toEqual([3_694, 55_924, 499_990]);
  expect(reached.filter(({ unit }) => unit === "turns a second").map(({ at }) => at)).toEqual([200, 500]);
});
