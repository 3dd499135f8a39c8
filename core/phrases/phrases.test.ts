import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import { cs } from "./languages/cs.ts";
import { de } from "./languages/de.ts";
import { en } from "./languages/en.ts";
import { es } from "./languages/es.ts";
import { fr } from "./languages/fr.ts";
import { it } from "./languages/it.ts";
import { nl } from "./languages/nl.ts";
import type { MessageKey, PhraseData } from "./languages/phrase-data.ts";
import { pl } from "./languages/pl.ts";
import { pt } from "./languages/pt.ts";
import { zh } from "./languages/zh.ts";
import { PhraseBook } from "./phrase-book.ts";
import { ENGLISH, Phrases } from "./phrases.ts";

const ALL = [en, de, fr, es, it, nl, pl, pt, cs, zh].map((data) => new Phrases(data));
const of = (data: PhraseData) => new Phrases(data);
const ZONE = "Europe/Berlin";
/** A Sunday at 12:00 in Berlin. */
const NOON = Date.parse("2026-11-22T11:00Z");

describe("messages", () => {
  test("a placeholder's text is written as it is", () => {
    expect(ENGLISH.say("doneState", { name: "{value} $& $1", value: "on" })).toBe("{value} $& $1: on.");
    fc.assert(
      fc.property(fc.string(), (name) => {
        expect(ENGLISH.say("done", { name })).toBe(`${name}: done.`);
      }),
    );
  });

  test.each(ALL)("in $language no message keeps a brace when all is given", (phrases) => {
    const given = new Proxy({ count: 3 }, { get: (own, name) => (name === "count" ? own.count : "x") });
    for (const key of Object.keys(en.messages) as MessageKey[])
      expect(
        (phrases.say as (key: MessageKey, given: object) => string).call(phrases, key, given),
      ).not.toMatch(/[{}]|undefined/);
  });

  test.each([
    [en, ["1 rule is cancelled.", "3 rules are cancelled.", "5 rules are cancelled."]],
    [de, ["1 Regel ist gelöscht.", "3 Regeln sind gelöscht.", "5 Regeln sind gelöscht."]],
    [pl, ["Usunięto 1 regułę.", "Usunięto 3 reguły.", "Usunięto 5 reguł."]],
    [cs, ["Zrušeno 1 pravidlo.", "Zrušena 3 pravidla.", "Zrušeno 5 pravidel."]],
    [zh, ["已取消 1 条规则。", "已取消 3 条规则。", "已取消 5 条规则。"]],
  ] as const)("$language: the number chooses the form", (data, texts) => {
    const phrases = of(data);
    expect([1, 3, 5].map((count) => phrases.say("rulesCancelled", { count }))).toEqual(texts);
  });

  test.each([
    [en, "Switch off 3 lights in Kitchen: A, B, C?"],
    [de, "3 Lichter (Kitchen) ausschalten: A, B, C?"],
    [es, "¿Apagar 3 luces (Kitchen): A, B, C?"],
    [zh, "关闭Kitchen的 3 个灯：A、B、C？"],
  ] as const)("$language: one question for several", (data, text) => {
    const phrases = of(data);
    const kind = phrases.kind("light", 3);
    const things = phrases.say("inArea", {
      things: phrases.say("countedKind", { count: 3, kind }),
      area: "Kitchen",
    });
    const names = phrases.list(["A", "B", "C"], "plain");
    expect(phrases.say("several", { act: phrases.act("turn_off"), things, names })).toBe(text);
  });
});

describe("numbers, spans, lists and times", () => {
  test.each([
    [en, "−1234.56", "21.4 °C"],
    [de, "−1234,56", "21,4 °C"],
    [pl, "−1234,56", "21,4 °C"],
    [zh, "−1234.56", "21.4 °C"],
  ] as const)("$language has its decimal sign, and all digits", (data, number, figure) => {
    const phrases = of(data);
    expect([phrases.number(-1234.56), phrases.figure(21.400000000000002, "°C")]).toEqual([number, figure]);
  });

  test.each([
    [en, "a, b, and c", "a, b, or c", "a, b, c"],
    [de, "a, b und c", "a, b oder c", "a, b, c"],
    [zh, "a、b和c", "a、b或c", "a、b、c"],
  ] as const)("$language joins lists", (data, and, or, plain) => {
    const phrases = of(data);
    const list = ["a", "b", "c"];
    expect([phrases.list(list, "and"), phrases.list(list, "or"), phrases.list(list, "plain")]).toEqual([
      and,
      or,
      plain,
    ]);
  });

  test.each([
    [en, "2 h 5 min", "1 day", "3 days 5 h"],
    [de, "2 h 5 min", "1 Tag", "3 Tage 5 h"],
    [cs, "2 h 5 min", "1 den", "3 dny 5 h"],
    [zh, "2小时 5分钟", "1天", "3天 5小时"],
  ] as const)("$language has spans", (data, hours, day, days) => {
    const phrases = of(data);
    expect([125 * MINUTE_MS, DAY_MS, 3.2 * DAY_MS].map((ms) => phrases.span(ms))).toEqual([hours, day, days]);
  });

  test.each([
    [en, "Mon 23 Nov, 12:00", "Sun 22 Nov 2026, 12:00"],
    [de, "12:00 am Mo., 23. Nov.", "12:00 am So., 22. Nov. 2026"],
    [cs, "12:00 (po 23. 11.)", "12:00 (ne 22. 11. 2026)"],
    [zh, "11月23日周一 12:00", "2026年11月22日周日 12:00"],
  ] as const)("$language: the clock alone today, else with the day", (data, tomorrow, full) => {
    const phrases = of(data);
    expect(phrases.time(NOON + HOUR_MS, ZONE, NOON)).toBe("13:00");
    expect(phrases.time(NOON + DAY_MS, ZONE, NOON)).toBe(tomorrow);
    expect(phrases.time(NOON, ZONE)).toBe(full);
  });

  test("English has its days and months in three letters", () => {
    const days = (["mo", "tu", "we", "th", "fr", "sa", "su"] as const).map((day) => ENGLISH.weekday(day));
    expect(days.join(" ")).toBe("Mon Tue Wed Thu Fri Sat Sun");
    const months = Array.from({ length: 12 }, (_, at) => ENGLISH.date(Date.UTC(2026, at, 5, 12), "UTC"));
    expect(months.map((date) => date.split(" ")[2]).join(" ")).toBe(
      "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    );
  });
});

describe("words of devices", () => {
  test("states by class, also where a rule keeps the English pair", () => {
    expect(of(de).stateWords("lock")).toEqual(["aufgeschlossen", "abgeschlossen"]);
    expect(of(de).stateWords("constructor")).toEqual(["an", "aus"]);
    expect(of(fr).stateWordsOf("wet", "dry")).toEqual(["humide", "sec"]);
    expect(of(fr).stateWordsOf("full", "empty")).toBeUndefined();
  });

  test("values and readings that are not known stay the device's own", () => {
    const phrases = of(de);
    expect([phrases.value("Locked"), phrases.value("Eco plus"), phrases.value("toString")]).toEqual([
      "abgeschlossen",
      "Eco plus",
      "toString",
    ]);
    expect([phrases.readingName("CO2"), phrases.readingName("linkquality")]).toEqual(["CO2", "Signalstärke"]);
    expect(phrases.readingName("Spool 3")).toBe("Spool 3");
    expect(ENGLISH.readingName("linkquality")).toBe("linkquality");
  });
});

describe("the languages that a program has read", () => {
  test("one is read once, and is English until then", async () => {
    const book = new PhraseBook();
    const read: string[] = [];
    const load = async (language: string) => {
      read.push(language);
      return language === "de" ? de : undefined;
    };
    expect(book.of("de").language).toBe("en");
    expect((await book.load("de", load)).language).toBe("de");
    await book.load("de", load);
    expect([book.of("de").language, read]).toEqual(["de", ["de"]]);
  });

  test("one that is not there is tried again", async () => {
    const book = new PhraseBook();
    let isThere = false;
    const load = async () => (isThere ? fr : undefined);
    expect(await book.load("fr", load)).toBe(ENGLISH);
    isThere = true;
    expect((await book.load("fr", load)).language).toBe("fr");
  });
});
