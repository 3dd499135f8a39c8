/** What a card says of the past week, of other rules, and of what is so already. */
import type { Sample } from "@edgecall/core/history/sample.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "@edgecall/core/time/zone.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { DraftHome, HEATING_DOWN, LEAK, LIGHT_OFF, NOW } from "./testkit/draft-home.ts";

let home: DraftHome;
beforeEach(() => {
  home = new DraftHome();
});

const keep = (id: string, reading: string, samples: Sample[], since = NOW - 30 * DAY_MS) =>
  home.past.set(`${home.keyOf(id)} ${reading}`, { samples, gaps: [], since });
/** The door was opened so long ago, for 10 min. */
const opened = (...ago: number[]): Sample[] => [
  { at: NOW - 8 * DAY_MS, value: false },
  ...ago.flatMap((ms) => [
    { at: NOW - ms, value: true },
    { at: NOW - ms + 10 * MINUTE_MS, value: false },
  ]),
];
const lineOf = (card: readonly string[], start: string) => card.find((line) => line.startsWith(start));

describe("the last week", () => {
  test("it would have run three times, and who was at home is not known", async () => {
    keep("front-door", "Contact", opened(5 * DAY_MS, 2 * DAY_MS, 3 * HOUR_MS));
    const { card } = await home.drafted(HEATING_DOWN);
    expect(lineOf(card, "In the last")).toBe(
      "In the last 7 days it would have run 3 times: Mon 23 Nov, 12:05, Thu 26 Nov, 12:05, 09:05. Who was at home is not known, so it may have run less often.",
    );
    const german = await home.drafted(HEATING_DOWN, "de");
    expect(lineOf(german.card, "In den")).toBe(
      "In den letzten 7 Tagen wäre sie 3-mal gelaufen: 12:05 am Mo., 23. Nov., 12:05 am Do., 26. Nov., 09:05. Wer zu Hause war, ist nicht bekannt; vielleicht wäre sie seltener gelaufen.",
    );
  });

  test("of more than five times the last are told, and that the history is shorter", async () => {
    keep(
      "kitchen-leak",
      "moisture",
      opened(6.5 * HOUR_MS, 5 * HOUR_MS, 4 * HOUR_MS, 3 * HOUR_MS, 2 * HOUR_MS, HOUR_MS),
      NOW - DAY_MS,
    );
    const { card } = await home.drafted(LEAK);
    expect(lineOf(card, "In the last")).toBe(
      "In the last 7 days it would have run 6 times: …, 07:00, 08:00, 09:00, 10:00, 11:00. The history begins Fri 27 Nov, 12:00.",
    );
    expect(card[0]).toMatch(/^Make this rule/);
  });

  test("more than 20 a day is a warning in the first line", async () => {
    const ago = Array.from({ length: 200 }, (_, n) => (200 - n) * 30 * MINUTE_MS);
    keep("kitchen-leak", "moisture", opened(...ago), NOW - 4 * DAY_MS);
    const { card } = await home.drafted(LEAK);
    expect(card[0]).toMatch(/^⚠ It would have run about \d\d times a day\.$/);
  });

  test("far too often is told of the last days alone, up to now", async () => {
    const ago = Array.from({ length: 2_016 }, (_, n) => (2_016 - n) * 5 * MINUTE_MS);
    const samples = ago.flatMap((ms) => [
      { at: NOW - ms, value: true },
      { at: NOW - ms + MINUTE_MS, value: false },
    ]);
    keep("kitchen-leak", "moisture", [{ at: NOW - 8 * DAY_MS, value: false }, ...samples]);
    const { card } = await home.drafted(LEAK);
    expect(card[0]).toMatch(/^⚠ It would have run about 2\d\d times a day\.$/);
    expect(lineOf(card, "In the last")).toMatch(/, 11:55\. The history begins /);
  });

  test("never, and not known", async () => {
    keep("kitchen-leak", "moisture", opened());
    expect(lineOf((await home.drafted(LEAK)).card, "In the last")).toBe(
      "In the last 7 days it would not have run.",
    );
    const { card } = await home.drafted(LIGHT_OFF);
    expect(card).toContain("How often it would have run is not known.");
  });
});

test("what is so already runs the next time", async () => {
  home.isSo = true;
  expect((await home.drafted(LEAK)).card.join("\n")).toContain("It is so already: it runs the next time.");
});

describe("loops", () => {
  const bright = {
    name: "Always on",
    when: [{ agent_id: "hall-light", reading: "switch", is: "equal", value: "off" }],
    do: [{ agent_id: "hall-light", action: "set", parameters: { on: true } }],
  };
  const dark = {
    name: "Never on",
    when: [{ agent_id: "hall-light", reading: "switch", is: "equal", value: "on", for_minutes: 5 }],
    do: [{ agent_id: "hall-light", action: "set", parameters: { on: false } }],
  };

  test("a rule that makes itself run at once is refused, and one after a time is named", async () => {
    const itself = { ...bright, over: "off", at_most_minutes: 5 };
    expect(await home.error(itself)).toEqual([
      "when.0.for_minutes: what the rule does makes this so at once, and it would run again and again; give minutes",
    ]);
    const held = { ...itself, when: bright.when.map((one) => ({ ...one, for_minutes: 2 })) };
    expect((await home.drafted(held)).card).toContain("⚠ What it does may make it run again.");
  });

  test("two that make each other run, and do the opposite, are named", async () => {
    home.rules = [{ ...(await home.drafted(bright)).automation, id: "a-0001" }];
    const { card } = await home.drafted(dark);
    expect(card).toContain(
      "⚠ It and “Always on” make each other run. ⚠ “Always on” does the opposite with the same device.",
    );
    // The version before it is no other rule.
    home.rules = home.rules.map((one) => ({ ...one, id: "a-12ab" }));
    expect((await home.drafted(dark)).card.join(" ")).not.toContain("Always on");
  });

  test("a thermostat's aim is not what it measures", async () => {
    const { card } = await home.drafted({
      name: "Warm",
      when: [{ agent_id: "living-room-trv", reading: "temperature", is: "below", value: 18, for_minutes: 0 }],
      do: [{ agent_id: "living-room-trv", action: "set", parameters: { temperature: 21 } }],
    });
    expect(card.join(" ")).not.toContain("⚠");
  });
});
