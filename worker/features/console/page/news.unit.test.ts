import { expect, test } from "vitest";
import { isUnread, newestSeen, newsOf, type Rule, readSeen, seenOf } from "./news.ts";

const rule = (id: string, more: object = {}) =>
  ({
    ...{ id, kind: "watch", name: "Too warm", status: "active", why: null, condition: "above −15 °C" },
    ...{
      device: "Freezer",
      last_firing: 1,
      by: "ann",
      channel: "api",
      conversation: "kitchen",
      to: "you",
      made_at: 0,
    },
    history: [{ occurrence: 1, at: 100, until: null, acked_by: null }],
    ...more,
  }) as unknown as Rule;

test("each firing is news, the newest first, with the conversation where it was told", () => {
  const all = newsOf([
    rule("w-1"),
    rule("w-2", {
      channel: "telegram",
      history: [{ occurrence: 4, at: 200, until: null, acked_by: "ben" }],
    }),
  ]);
  expect(all).toEqual([
    { key: "w-2 4", at: 200, title: "Freezer: Too warm", second: "answered by ben", conversation: undefined },
    { key: "w-1 1", at: 100, title: "Freezer: Too warm", second: "above −15 °C", conversation: "kitchen" },
  ]);
});

test("N2: it is unread until the bell was opened, or its conversation was looked at, after it", () => {
  const [item] = newsOf([rule("w-1")]);
  if (!item) throw new Error("no news");
  expect(isUnread(item, { all: 0, conversations: {} })).toBe(true);
  expect(isUnread(item, { all: 100, conversations: {} })).toBe(false);
  expect(isUnread(item, { all: 0, conversations: { kitchen: 99 } })).toBe(true);
  expect(isUnread(item, { all: 0, conversations: { kitchen: 101 } })).toBe(false);
});

test("what is loaded is seen, and nothing that comes later, whatever this browser's clock says", () => {
  const firing = (at: number) => ({ history: [{ occurrence: at, at, until: null, acked_by: null }] });
  const items = newsOf([rule("w-1"), rule("w-2", { conversation: "attic", ...firing(300) })]);
  const [later] = newsOf([rule("w-1", firing(301))]);
  if (!later) throw new Error("no news");
  expect(items.filter((item) => isUnread(item, seenOf(items)))).toEqual([]);
  expect(isUnread(later, seenOf(items))).toBe(true);
  expect(items.filter((item) => isUnread(item, seenOf(items, "kitchen"))).map(({ key }) => key)).toEqual([
    "w-2 300",
  ]);
  expect(isUnread(later, seenOf(items, "kitchen"))).toBe(true);
  expect(seenOf([])).toEqual({ all: 0, conversations: {} });
});

test("of two windows' marks the newer ones hold, and none that says nothing is kept", () => {
  const one = { all: 50, conversations: { kitchen: 70, attic: 60, hall: 40 } };
  const other = { all: 20, conversations: { kitchen: 65, attic: 90 } };
  const both = { all: 50, conversations: { kitchen: 70, attic: 90 } };
  expect(newestSeen(one, other)).toEqual(both);
  expect(newestSeen(other, one)).toEqual(both);
  expect(newestSeen(both, seenOf([]))).toEqual(both);
});

test.each([null, "", "{", "[]", '{"all":"x"}'])("what was never stored, or is %j, is no mark", (text) => {
  expect(readSeen(text)).toBeUndefined();
});
