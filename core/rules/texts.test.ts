import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import { conditionText } from "./condition-text.ts";
import { reminderConfirmation, type WatchFacts, watchConfirmation } from "./confirmation-text.ts";
import type { Firing, Notice } from "./delivery.ts";
import { messageText, noticeText, type RuleNotice } from "./notice-text.ts";
import { deviceText, plainText } from "./plain-text.ts";
import type { Reminder } from "./reminder.ts";
import { reminderText } from "./reminder-text.ts";
import { bellOf, doorOf, NOON, watchOf } from "./testkit/rules.ts";
import { figureText, spanText, timeText } from "./time-text.ts";
import type { WatchRule } from "./watch-rule.ts";

const ZONE = "Europe/Berlin";
const minutes = (n: number) => NOON + n * MINUTE_MS;

describe("times, spans and figures", () => {
  test.each([
    [0, "12:00"],
    [12 * HOUR_MS, "Mon 23 Nov, 00:00"],
    [-13 * HOUR_MS, "Sat 21 Nov, 23:00"],
    [60 * DAY_MS, "Thu 21 Jan 2027, 12:00"],
  ])("%i ms from noon is %s", (ms, words) => {
    expect(timeText(NOON + ms, ZONE, NOON)).toBe(words);
  });

  test("without a time of reading, all of it", () => {
    expect(timeText(NOON, ZONE)).toBe("Sun 22 Nov 2026, 12:00");
    expect(timeText(NOON, "Asia/Kathmandu")).toBe("Sun 22 Nov 2026, 16:45");
  });

  test.each([
    [-1, "0 s"],
    [40_000, "40 s"],
    [MINUTE_MS, "1 min"],
    [49 * MINUTE_MS, "49 min"],
    [59.7 * MINUTE_MS, "1 h"],
    [125 * MINUTE_MS, "2 h 5 min"],
    [DAY_MS, "1 day"],
    [3.2 * DAY_MS, "3 days 5 h"],
  ])("%i ms are %s", (ms, words) => {
    expect(spanText(ms)).toBe(words);
  });

  test.each([
    [-11.4, "°C", "−11.4 °C"],
    [-16.000001, "°C", "−16.000001 °C"],
    [21.400000000000002, "°C", "21.4 °C"],
    [123456.789, "kWh", "123456.789 kWh"],
    [0.00312, undefined, "0.00312"],
    [-0.001, undefined, "−0.001"],
    [0, "W", "0 W"],
    [true, undefined, "on"],
    [false, undefined, "off"],
  ])("%s %s is %s", (value, unit, words) => {
    expect(figureText(value, unit)).toBe(words);
  });
});

describe("words of others", () => {
  test("on one line, nothing hidden, bounded", () => {
    expect(plainText("a\n\n b\u202ec\u0000d", 100)).toBe("a b\\u202ec d");
    expect(plainText("x".repeat(500), 60)).toHaveLength(60);
    expect(deviceText("y".repeat(500))).toHaveLength(202);
  });

  test("a quotation cannot be ended from within", () => {
    expect(deviceText("ok” and 12 °C now “")).toBe("“ok' and 12 °C now '”");
  });

  test.each([
    "https://evil.example/x",
    "see evil.example.",
    "[here](http://evil.example)",
    "mail me@evil.example",
    "@channel",
    "/stop now",
    "#tag",
  ])("no link is made of %s", (text) => {
    const words = plainText(text, 200);
    expect(words.replaceAll("\u2060", "")).toBe(text);
    // Chat apps and our own Markdown look for these.
    expect(words).not.toMatch(/:\/\/|\w\.[a-z]|@\w|(^|\s)[/#]\w/);
  });

  test("figures stay as they are", () => {
    for (const text of ["−18.2 °C", "Cellar, 2.5 m", "12:30", "and/or", "e-mail"])
      expect(plainText(text, 100)).toBe(text);
  });

  test("whatever a device says is one bounded line in a quotation", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
        const words = deviceText(text);
        expect(words).toMatch(/^“[^“”\n\r]*”$/u);
        expect(words).not.toContain("://");
      }),
    );
  });
});

test.each([
  [watchOf({ hold_ms: 10 * MINUTE_MS }), "temperature is above −15 °C for 10 min"],
  [watchOf({ is: "below", field: "inside" }), "temperature (inside) is below −15 °C"],
  [doorOf(), "contact is open"],
  [doorOf({ is: "not_equal", value: false }), "contact is not closed"],
  [doorOf({ type: "text", value: "jammed" }), "contact is “jammed”"],
  [doorOf({ is: "offline", reading: "presence", hold_ms: 5 * MINUTE_MS }), "it is offline for 5 min"],
  [bellOf(), "button has an event"],
  [bellOf({ value: "double" }), "button says “double”"],
  [watchOf({ is: "changes" }), "temperature changes"],
])("a condition: %#", (rule, words) => {
  expect(conditionText(rule)).toBe(words);
});

const firing: Firing = {
  occurrence: 1,
  at: minutes(12),
  since: minutes(2),
  value: -11.4,
  unit: "°C",
};
const over: Firing = { ...firing, over: { at: minutes(52), until: minutes(51), value: -16 } };
const freezer = watchOf({ hold_ms: 10 * MINUTE_MS, severity: "warning" });
const told = (notice: Notice, rule: WatchRule = freezer, place = "Freezer, Cellar"): RuleNotice => ({
  rule,
  place,
  notice,
});
const said = (notice: Notice, now: number, rule?: WatchRule) =>
  noticeText(told(notice, rule), { zone: ZONE, now });

describe("messages", () => {
  const first: Notice = { kind: "firing", firing, count: 1, firstAt: firing.at };

  test("a firing, with the time of the event", () => {
    expect(said(first, minutes(12))).toBe(
      "⚠ Freezer too warm: −11.4 °C at 12:12 (limit −15 °C for 10 min). Freezer, Cellar.",
    );
    expect(said(first, minutes(12), { ...freezer, severity: "critical", say: "Close the *door*." })).toBe(
      "🚨 Freezer too warm: −11.4 °C at 12:12 (limit −15 °C for 10 min). Freezer, Cellar.\nClose the *door*.",
    );
  });

  test("a firing of before the rule was changed does not name the limit of now", () => {
    const fired: Notice = { ...first, firing: { ...firing, version: 1 } };
    expect(said(fired, minutes(12), { ...freezer, value: -10, version: 2 })).toBe(
      "⚠ Freezer too warm: −11.4 °C at 12:12. Freezer, Cellar.",
    );
    expect(said(fired, minutes(12))).toContain("(limit −15 °C for 10 min)");
  });

  test("told late, and on another day", () => {
    expect(said(first, minutes(20))).toMatch(/Freezer, Cellar\. Told late, at 12:20\.$/);
    expect(said(first, NOON + DAY_MS)).toMatch(/−11\.4 °C at Sun 22 Nov, 12:12/);
  });

  test("its end", () => {
    expect(said({ kind: "recovery", firing: over }, minutes(52))).toBe(
      "✓ Freezer too warm: over at 12:51, −16 °C. It lasted 49 min. Freezer, Cellar.",
    );
  });

  test("several at once, over or not", () => {
    const several = { kind: "firing", count: 4, firstAt: minutes(2) } as const;
    expect(said({ ...several, firing }, minutes(40))).toBe(
      "⚠ Freezer too warm: 4 times since 12:02, last at 12:12. It goes on. Freezer, Cellar. Told late, at 12:40.",
    );
    expect(said({ ...several, firing: over }, minutes(12))).toMatch(/last at 12:12\. Over now\. Freezer/);
  });

  test("one that was over before it was told", () => {
    expect(said({ ...first, firing: over }, minutes(53))).toMatch(
      /^⚠ Freezer too warm: from 12:02 to 12:51\. Freezer, Cellar\./,
    );
  });

  test("repeat, second recipient, muted", () => {
    expect(said({ kind: "repeat", firing, more: 0, lastAt: firing.at }, minutes(41))).toBe(
      "⚠ Freezer too warm: still so, since 12:02 (39 min). Nobody has answered yet. Freezer, Cellar.",
    );
    expect(said({ kind: "repeat", firing, more: 2, lastAt: minutes(14) }, minutes(17), bellOf())).toBe(
      "🔔 Bell, at 12:12: nobody has answered yet. 2 times more, last at 12:14. Freezer, Cellar.",
    );
    expect(said({ kind: "escalation", firing, afterMs: 15 * MINUTE_MS }, minutes(27))).toMatch(
      /Freezer, Cellar\. Nobody answered for 15 min, so this comes to you\.$/,
    );
    expect(
      said({ kind: "muted", firing, count: 1, firstAt: firing.at, until: minutes(72) }, minutes(12)),
    ).toMatch(/It keeps coming and going, so this watch is silent until 13:12, or until it settles\.$/);
  });

  test("no value, and values again", () => {
    expect(said({ kind: "unknown", since: minutes(2) }, minutes(62))).toBe(
      "⚠ Freezer too warm: no value since 12:02, so it cannot be watched. Freezer, Cellar.",
    );
    expect(said({ kind: "unknown" }, minutes(62))).toMatch(/no value, so it cannot be watched/);
    expect(said({ kind: "back", at: minutes(63), value: -18 }, minutes(63))).toBe(
      "✓ Freezer too warm: there are values again at 13:03: −18 °C. Freezer, Cellar.",
    );
  });

  test("contacts, presence, and a device's own words", () => {
    const door: Firing = { occurrence: 1, at: minutes(1), since: minutes(1), value: true };
    const opened: Notice = { kind: "firing", firing: door, count: 1, firstAt: door.at };
    expect(said(opened, minutes(1), doorOf())).toBe("🔔 Gate open: open at 12:01. Freezer, Cellar.");
    const lasted: Notice = { ...opened, firing: { ...door, since: minutes(-1) } };
    expect(said(lasted, minutes(1), doorOf({ hold_ms: 2 * MINUTE_MS }))).toBe(
      "🔔 Gate open: open since 11:59. Freezer, Cellar.",
    );
    const offline = doorOf({ name: "Pi offline", is: "offline", reading: "presence" });
    expect(said(opened, minutes(6), offline)).toMatch(/^🔔 Pi offline: offline since 12:01\./);
    const words: Firing = { ...door, value: "person\nat www.evil.example" };
    expect(said({ ...opened, firing: words }, minutes(1), bellOf())).toMatch(
      /^🔔 Bell: “person at www\.\u2060evil\.\u2060example” at 12:01\./,
    );
  });
});

describe("one message of several", () => {
  const at = { zone: ZONE, now: NOON + DAY_MS };
  const gate = doorOf({ name: "Garden gate opened", severity: "info" });
  const opened: Firing = {
    occurrence: 9,
    at: NOON,
    since: NOON,
    value: true,
    over: { at: minutes(1), until: minutes(1) },
  };
  const list = [
    told({ kind: "firing", firing: opened, count: 4, firstAt: NOON - HOUR_MS }, gate, "Gate, Garden"),
    told({ kind: "recovery", firing: over }),
  ];

  test("a list; after quiet hours it says so", () => {
    expect(messageText(list, at)).toBe(
      [
        "Several at once:",
        "• Garden gate opened: 4 times since Sun 22 Nov, 11:00, last at Sun 22 Nov, 12:00. Over now. Gate, Garden.",
        "• Freezer too warm: over at Sun 22 Nov, 12:51, −16 °C. It lasted 49 min. Freezer, Cellar.",
      ].join("\n"),
    );
    expect(messageText(list.slice(1), { zone: ZONE, now: minutes(60) }, true)).toBe(
      "☀ During the quiet hours:\n• Freezer too warm: over at 12:51, −16 °C. It lasted 49 min. Freezer, Cellar.",
    );
    expect(messageText(list.slice(1), at)).toMatch(/^✓ Freezer/);
  });

  test("a long list is cut with its count", () => {
    const many = Array.from({ length: 30 }, () => list).flat();
    const lines = messageText(many, at).split("\n");
    expect([lines.length, lines.at(-1)]).toEqual([22, "• and 40 more"]);
  });
});

describe("the gateway's answer to `watch`", () => {
  const facts: WatchFacts = {
    place: "Freezer (paired sensor)",
    to: "you here",
    now: { value: -18.2, at: NOON },
    checked: MINUTE_MS,
  };
  const answered = (rule: WatchRule, more: Partial<WatchFacts> = {}) =>
    watchConfirmation(rule, { ...facts, ...more }, NOON + 1_000);

  test("what it waits for, how often it tells, the value now", () => {
    expect(answered({ ...freezer, severity: "critical" })).toBe(
      "Watching Freezer (paired sensor): tells you here “Freezer too warm” when temperature is above −15 °C for 10 min, again at most every 30 min, also at night (critical). Now: −18.2 °C. Checked by the device every 1 min.",
    );
  });

  test("what is so already is said", () => {
    expect(answered(freezer, { now: { value: "-11", at: NOON - HOUR_MS } })).toMatch(
      /Now: −11 °C \(1 h ago\), so this is so already: it fires in 10 min if it stays\./,
    );
  });

  test("what is so already outside its hours fires when they begin", () => {
    const night = { ...freezer, only_between: { from: 1_320, to: 420, zone: ZONE } };
    expect(answered(night, { now: { value: -11, at: NOON } })).toMatch(
      /it fires from 22:00 on if it stays\./,
    );
  });

  test("that a change from here is not told, where there can be one and it would fire at once", () => {
    const silent = "A change that is made from here is not told.";
    const changes = true;
    expect(answered(doorOf(), { changes })).toContain(silent);
    expect(answered(doorOf())).not.toContain(silent);
    expect(answered(doorOf({ hold_ms: MINUTE_MS }), { changes })).not.toContain(silent);
    expect(answered(doorOf({ tell_own: true }), { changes })).not.toContain(silent);
  });

  test("repeats, hours, quiet hours, and a value that is not known", () => {
    const { now: _, checked: __, ...unknown } = facts;
    const quiet = { from: 1_320, to: 420, zone: ZONE };
    const night = doorOf({
      repeat: "until_ack",
      only_between: { from: 1_320, to: 420, zone: ZONE },
    });
    expect(watchConfirmation(night, { ...unknown, quiet }, NOON)).toBe(
      "Watching Freezer (paired sensor): tells you here “Gate open” when contact is open, again after 5, 15, 30 and 60 min and then hourly until somebody answers, only between 22:00 and 07:00, but not in the quiet hours (22:00–07:00). Its value is not known now.",
    );
    expect(watchConfirmation(bellOf({ repeat: "once" }), unknown, NOON)).toBe(
      "Watching Freezer (paired sensor): tells you here “Bell” when button has an event, once.",
    );
  });
});

describe("reminders", () => {
  const daily: Reminder = {
    id: "r-0001",
    version: 1,
    text: "Water the plants (see https://evil.example)",
    schedule: { kind: "days", hour: 8, minute: 0, days: ["mo", "tu", "we", "th", "fr"] },
    do: "say",
  };

  test.each<[string, Partial<Reminder>, string]>([
    [
      "workdays",
      {},
      "Reminds you here every weekday at 08:00 (Europe/Berlin): “Water”. Next: Mon 23 Nov 2026, 08:00; Tue 24 Nov 2026, 08:00; Wed 25 Nov 2026, 08:00.",
    ],
    [
      "once",
      { schedule: { kind: "instant", at: minutes(20) } },
      "Reminds you here once, Sun 22 Nov 2026, 12:20 (Europe/Berlin): “Water”.",
    ],
    [
      "a briefing on some days",
      { do: "brief", schedule: { kind: "days", hour: 7, minute: 5, days: ["su", "mo"] } },
      "Briefs you here every Mon, Sun at 07:05 (Europe/Berlin): “Water”. Next: Mon 23 Nov 2026, 07:05; Sun 29 Nov 2026, 07:05; Mon 30 Nov 2026, 07:05.",
    ],
  ])("the answer to `remind`: %s", (_, more, words) => {
    expect(reminderConfirmation({ ...daily, text: "Water", ...more }, ZONE, "you here", NOON)).toBe(words);
  });

  test.each([
    [{ kind: "hours", minute: 5, days: ["sa", "su"] }, "every hour at :05, every Saturday and Sunday"],
    [{ kind: "month", day: 31, hour: 8, minute: 0 }, "on day 31 of each month (or its last day) at 08:00"],
  ] as const)("%j", (schedule, words) => {
    const reminder = { ...daily, schedule: structuredClone(schedule) as Reminder["schedule"] };
    expect(reminderConfirmation(reminder, ZONE, "you", NOON)).toContain(`Reminds you ${words} (`);
  });

  test("what it says: on time, late, missed", () => {
    const at = { zone: ZONE, now: NOON };
    const plain = "Water the plants (see https:\u2060//evil.\u2060example)";
    expect(reminderText(daily, { due: { at: NOON, late: false }, skipped: [] }, at)).toBe(`⏰ ${plain}`);
    expect(reminderText(daily, { due: { at: minutes(-20), late: true }, skipped: [] }, at)).toBe(
      `⏰ ${plain} (It was due at 11:40.)`,
    );
    const skipped = [4, 3, 2, 1].map((days) => NOON - days * DAY_MS);
    expect(reminderText(daily, { due: undefined, skipped }, at)).toBe(
      `⏰ ${plain}\nMissed while the gateway was away: Thu 19 Nov, 12:00; Fri 20 Nov, 12:00; Sat 21 Nov, 12:00 (4 in all).`,
    );
  });
});
