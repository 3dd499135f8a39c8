/** The texts of rules in other languages: each speaks as a whole, without a word of English. */
import { describe, expect, test } from "vitest";
import { cs } from "../phrases/languages/cs.ts";
import { de } from "../phrases/languages/de.ts";
import { es } from "../phrases/languages/es.ts";
import { fr } from "../phrases/languages/fr.ts";
import { it } from "../phrases/languages/it.ts";
import { nl } from "../phrases/languages/nl.ts";
import { pl } from "../phrases/languages/pl.ts";
import { pt } from "../phrases/languages/pt.ts";
import { zh } from "../phrases/languages/zh.ts";
import { Phrases } from "../phrases/phrases.ts";
import { MINUTE_MS } from "../time/zone.ts";
import { conditionText } from "./condition-text.ts";
import { reminderConfirmation, watchConfirmation } from "./confirmation-text.ts";
import type { Firing, Notice } from "./delivery.ts";
import { messageText } from "./notice-text.ts";
import { Reminder } from "./reminder.ts";
import { bellOf, doorOf, NOON, watchOf } from "./testkit/rules.ts";
import { conditionOf, WatchRule } from "./watch-rule.ts";

const ZONE = "Europe/Berlin";
const OTHERS = [de, fr, es, it, nl, pl, pt, cs, zh].map((data) => new Phrases(data));
const minutes = (n: number) => NOON + n * MINUTE_MS;
const freezer = watchOf({ hold_ms: 10 * MINUTE_MS });

const firing: Firing = { occurrence: 3, at: minutes(12), since: minutes(2), value: -11.4 };
const over: Firing = { ...firing, over: { at: minutes(52), until: minutes(51), value: -16 } };
const NOTICES: readonly Notice[] = [
  { kind: "firing", firing, count: 1, firstAt: firing.at },
  { kind: "firing", firing: over, count: 4, firstAt: NOON },
  { kind: "muted", firing, count: 1, firstAt: firing.at, until: minutes(72) },
  { kind: "repeat", firing, more: 0, lastAt: firing.at },
  { kind: "escalation", firing, afterMs: 15 * MINUTE_MS },
  { kind: "recovery", firing: over },
  { kind: "unknown", since: minutes(2) },
  { kind: "back", at: minutes(63), value: -18 },
];

test.each([
  [
    de,
    "Ich beobachte Gefrierschrank: „Warm“ geht an dich hier, sobald gilt: Temperatur ist über −15 °C, 10 min lang, höchstens alle 30 min, aber nicht in den Ruhezeiten (22:00–07:00). Jetzt: −18,2 °C. Das Gerät prüft alle 1 min.",
  ],
  [
    zh,
    "正在关注Gefrierschrank：“Warm”会通知你（这里），条件是温度高于 −15 °C，持续10分钟，最多每30分钟一次，但安静时段除外（22:00–07:00）。现在：−18.2 °C。设备每1分钟检查一次。",
  ],
] as const)("$language: the answer to `watch`", (data, text) => {
  const phrases = new Phrases(data);
  const facts = {
    place: "Gefrierschrank",
    to: phrases.say("youHere"),
    now: { value: -18.2, at: NOON },
    checked: MINUTE_MS,
    quiet: { from: 1_320, to: 420, zone: ZONE },
  };
  expect(watchConfirmation({ ...freezer, name: "Warm" }, facts, NOON, phrases)).toBe(text);
});

test.each([
  [de, "⚠ Warm: −11,4 °C um 12:12 (Grenze −15 °C, 10 min lang). Keller. Verspätet gemeldet um 12:52."],
  [fr, "⚠ Warm : −11,4 °C à 12:12 (limite −15 °C pendant 10 min). Keller. Annoncé en retard, à 12:52."],
  [cs, "⚠ Warm: −11,4 °C v 12:12 (mez −15 °C po dobu 10 min). Keller. Oznámeno se zpožděním, 12:52."],
  [zh, "⚠ Warm：12:12：−11.4 °C（界限 −15 °C，持续10分钟）。Keller。通知晚了，12:52。"],
] as const)("$language: a firing", (data, text) => {
  const rule = { ...freezer, name: "Warm", severity: "warning" as const };
  const notice: Notice = { kind: "firing", firing, count: 1, firstAt: firing.at };
  const telling = { zone: ZONE, now: minutes(52), phrases: new Phrases(data) };
  expect(messageText([{ rule, place: "Keller", notice }], telling)).toBe(text);
});

test("German: a reminder, with its times", () => {
  const reminder: Reminder = {
    id: "r-0001",
    version: 1,
    text: "Blumen",
    schedule: { kind: "days", hour: 8, minute: 0, days: ["mo", "we"] },
    do: "say",
  };
  expect(reminderConfirmation(reminder, ZONE, "dich hier", NOON, new Phrases(de))).toBe(
    "Erinnerung für dich hier, jede Woche Mo., Mi. um 08:00 (Europe/Berlin): „Blumen“. Nächste Male: 08:00 am Mo., 23. Nov. 2026; 08:00 am Mi., 25. Nov. 2026; 08:00 am Mo., 30. Nov. 2026.",
  );
});

test("the words of a class are those of the language; a device's own words stay", () => {
  const phrases = new Phrases(de);
  expect(conditionText(doorOf(), phrases)).toBe("Kontakt ist offen");
  expect(conditionText(doorOf({ words: { yes: "full", no: "empty" } }), phrases)).toBe("Kontakt ist full");
  expect(conditionText(doorOf({ type: "text", value: "jammed" }), phrases)).toBe("Kontakt ist “jammed”");
});

describe.each(OTHERS)("$language", (phrases) => {
  test("no English in any message of any kind of rule", () => {
    const rules = [
      watchOf({ name: "N", hold_ms: 10 * MINUTE_MS }),
      doorOf({ name: "N" }),
      doorOf({ name: "N", is: "offline", reading: "presence" }),
      bellOf({ name: "N", reading: "state" }),
    ];
    const list = rules.flatMap((rule) => NOTICES.map((notice) => ({ rule, place: "P", notice })));
    const texts = list.map((one) => messageText([one], { zone: ZONE, now: minutes(90), phrases }));
    texts.push(messageText(list, { zone: ZONE, now: minutes(90), phrases }, true));
    for (const text of texts)
      expect(text).not.toMatch(
        /\b(?:since|times|last|until|lasted|watch|value|limit \W|nobody|more|open)\b/i,
      );
  });
});

describe("a rule's language", () => {
  test("is none that is not spoken here, and may be absent", () => {
    expect(WatchRule.safeParse({ ...freezer, language: "de" }).success).toBe(true);
    expect(WatchRule.safeParse(freezer).success).toBe(true);
    expect(WatchRule.safeParse({ ...freezer, language: "xx" }).success).toBe(false);
    expect(Reminder.safeParse({ language: "xx" }).success).toBe(false);
  });

  test("does not go to the place where the reading is", () => {
    expect(conditionOf({ ...freezer, language: "de" })).toEqual(conditionOf(freezer));
  });
});
