import { expect, test } from "vitest";
import type { Understood } from "./frame.ts";
import { de } from "./languages/de.ts";
import { en } from "./languages/en.ts";
import { zh } from "./languages/zh.ts";
import { makeLexicon } from "./lexicon.ts";
import { type NamedThing, NameTable } from "./names.ts";
import { CHARS_MAX, readSentence } from "./read.ts";
import { DE_HOME, EN_HOME, ZH_HOME } from "./testkit/demo-home.ts";
import { said } from "./testkit/said.ts";

const [english, german, chinese] = [makeLexicon(en), makeLexicon(de), makeLexicon(zh)];
const names = new NameTable([...EN_HOME, ...DE_HOME, ...ZH_HOME]);

function read(sentence: string, things?: readonly NamedThing[]): Understood {
  return readSentence(sentence, things ? new NameTable(things) : names, [english, german, chinese]);
}

function device(id: string, name: string, more: Partial<NamedThing> = {}): NamedThing {
  return { id, name, of: "device", ...more };
}

const kitchen: NamedThing = { id: "kitchen", name: "Kitchen", of: "area", own: true };

test("a sentence is understood in whichever language it is", () => {
  expect(read("turn on the desk lamp")).toMatchObject({ result: "one", language: "en" });
  expect(read("schalte die Leselampe ein")).toMatchObject({ result: "one", language: "de" });
  expect(read("打开阅读灯")).toMatchObject({ result: "one", language: "zh" });
});

test("the same meaning in two languages is one", () => {
  expect(read("TV on", [device("tv", "TV", { own: true })])).toMatchObject({ result: "one", language: "en" });
});

test("two meanings are asked back", () => {
  expect(said(read("turn on all light"))).toBe("which: turn_on <light all> | turn_on <light one>");
});

test("a name twice is both devices, and the place tells which", () => {
  const things = [
    kitchen,
    device("a", "Lava", { area: "kitchen", own: true }),
    device("b", "Lava", { area: "hall", own: true }),
  ];
  expect(read("turn on lava", things)).toMatchObject({ frames: [{ target: { ids: ["a", "b"] } }] });
  expect(read("turn on lava in the kitchen", things)).toMatchObject({ frames: [{ target: { ids: ["a"] } }] });
});

test("the longer name counts", () => {
  const things = [
    kitchen,
    device("a", "Kitchen"),
    device("b", "Kitchen light"),
    device("c", "Kitchen light 2"),
  ];
  expect(said(read("turn on kitchen light 2", things))).toBe("turn_on <Kitchen light 2>");
  expect(said(read("turn on kitchen light", things))).toBe("turn_on <Kitchen light>");
});

test("a publisher's name that is a type is one of that type; a person's is the device", () => {
  expect(read("turn on the fan", [device("x", "Fan")])).toMatchObject({
    frames: [{ target: { of: "type", type: "fan", number: "one", named: ["x"] } }],
  });
  expect(read("turn on the fan", [device("x", "Fan", { own: true })])).toMatchObject({
    frames: [{ target: { of: "named", ids: ["x"] } }],
  });
});

test.each(["all", "all lights", "everything", "if", "it", "off"])(
  "a publisher that calls its device '%s' takes nothing over",
  (name) => {
    const things = [kitchen, device("evil", name)];
    for (const sentence of [
      "turn off all lights",
      "turn off everything",
      "turn it off",
      "turn all lights off",
    ])
      expect(JSON.stringify(read(sentence, things))).not.toContain("evil");
    expect(read("turn off all lights if it is dark", things)).toMatchObject({ result: "none" });
  },
);

test("an area alone, or an area and a word that is no act, is no target", () => {
  expect(said(read("turn off the kitchen"))).toBe("? no_target");
  expect(read("office an")).toMatchObject({ result: "none" });
  expect(read("all kitchen")).toMatchObject({ result: "none" });
});

test("a bare number is no value, and 'at' makes it a time", () => {
  expect(read("set the desk lamp 8")).toMatchObject({ result: "none" });
  expect(said(read("turn on the desk lamp at 8"))).toBe("? delay");
  expect(said(read("set the desk lamp to 8"))).toBe("set value 8 <Desk lamp>");
});

test("an unknown word is told with near words, and nothing acts", () => {
  expect(read("turn on the raeding lamp")).toMatchObject({
    result: "none",
    language: "en",
    reason: {
      because: "unknown_word",
      word: "raeding",
      near: [{ word: "reading", whole: "turn on the reading lamp" }],
    },
  });
});

test("several slips are mended in what is offered, which is understood", () => {
  expect(read("how ful is the roott dsik?")).toMatchObject({
    result: "none",
    reason: { word: "ful", near: [{ whole: "how full is the root disk?" }] },
  });
  expect(read("turn of the flumbx")).toMatchObject({ result: "none", reason: { near: [] } });
});

test("one slip in a question is forgiven, and said", () => {
  expect(read("how hmuid is the bathroom?")).toMatchObject({
    result: "one",
    slip: { said: "hmuid", taken: "humid" },
    frames: [{ kind: "ask", reading: "humidity" }],
  });
});

test("a slip in a watch, a rule or an act is not forgiven", () => {
  expect(read("tell me when the freezer is warrmer than 5")).toMatchObject({ result: "none" });
  expect(read("cancel all remindrs")).toMatchObject({ result: "none" });
});

test("a delay says when, so that a reminder can be offered", () => {
  expect(read("turn on the desk lamp in 10 minutes")).toMatchObject({
    reason: { because: "delay", when: { in_minutes: 10 } },
  });
});

test("a condition names its word", () => {
  expect(read("turn on the desk lamp as soon as it is dark")).toMatchObject({
    reason: { because: "condition", word: "as soon as" },
  });
});

test("a quotation acts in no language", () => {
  for (const sentence of ['"turn on the desk lamp"', "«schalte die Leselampe ein»", "「打开阅读灯」"])
    expect(said(read(sentence))).toBe("? quotation");
});

test("the model may be asked for a text of any length", () => {
  const text = `why ${"is it so ".repeat(60)}`.trim();
  expect(read(`ask the model: ${text}`)).toMatchObject({ frames: [{ kind: "model", text }] });
});

test("a longer text than the reader's is not read", () => {
  expect(said(read(`turn on the desk lamp ${"please ".repeat(CHARS_MAX / 7)}`))).toBe("? too_long");
  expect(said(read("now ".repeat(31)))).toBe("? too_long");
  expect(said(read("turn on a lamp and a fan and a heater and a pump"))).toBe("? too_long");
});

test("nothing said is nothing", () => {
  for (const sentence of ["", "  ", "?", "…"]) expect(said(read(sentence))).toBe("? empty");
});

test("names with signs that do not show, or of more than 60 characters, are no names", () => {
  expect(read("turn on lava", [device("x", "lava\u200b")])).toMatchObject({ result: "none" });
  expect(read(`turn on ${"lava".repeat(20)}`, [device("x", "lava".repeat(20))])).toMatchObject({
    result: "none",
  });
});

const MANY = 10_000;
/** Of ten thousand names on a busy machine. The target is a hundredth of it. */
const BOUND_MS = 1_000;

test.each([
  [
    "share a beginning",
    (at: number) => `a a a a a a a a a a ${at}`,
    "turn on a a a a a a a a a a a a a a a a a a a a",
  ],
  ["are one name", () => "lava", "turn on lava lava lava lava lava lava"],
  ["begin with the same letters", (at: number) => `lavalamp${at}`, "turn on lavalampe"],
  [
    "are words of the language",
    (at: number) => `on off turn the ${at}`,
    "on off turn the on off turn the on off turn the on off on off on off on off",
  ],
] as const)("ten thousand names that %s cost little", (_, nameOf, sentence) => {
  const table = new NameTable(Array.from({ length: MANY }, (_, at) => device(`x${at}`, nameOf(at))));
  const before = performance.now();
  const understood = readSentence(sentence, table, [english, german, chinese]);
  expect(performance.now() - before).toBeLessThan(BOUND_MS);
  expect(JSON.stringify(understood).length).toBeLessThan(5_000);
});

test("a sentence with too many ways to read it is not read", () => {
  expect(
    read("on on on on on on on on on on on on on on on on on on on on on on on on on on on"),
  ).toMatchObject({
    result: "none",
  });
});

test("a name in another case is found where the language has cases", () => {
  const polish = makeLexicon({
    code: "pl",
    endings: "cases",
    numbers: { small: "zero,jeden", tens: "dwadzieścia", join: "T U", hundred: "sto" },
    phrases: { in: "w", "act:turn_on": "włącz", "type:light": "światło", "stop:negation": "nie" },
  });
  const home = new NameTable([
    { id: "k", name: "Kuchnia", of: "area", own: true },
    { id: "s", name: "Sypialnia", of: "area", own: true },
    device("l", "Lampka nocna", { own: true }),
  ]);
  const meaning = (sentence: string) => said(readSentence(sentence, home, [polish]));
  expect(meaning("włącz światło w kuchni")).toBe("turn_on <light one @Kuchnia>");
  expect(meaning("włącz lampkę nocną")).toBe("turn_on <Lampka nocna>");
  expect(meaning("włącz światło w kurniku")).toBe("? unknown_word");
});

test("a compound is read in its parts where the language writes compounds", () => {
  expect(said(read("Schlafzimmerheizung auf 20 Grad"))).toContain("Schlafzimmerheizung");
  expect(said(read("mach die Gartenlampen an"))).toBe("turn_on <light many @Garten>");
  expect(said(read("wie ist die Bürotemperatur?"))).toBe("ask value temperature <@Büro>");
});

test("a run of letters without end is looked up as often as a short word", () => {
  let lookups = 0;
  class Counted extends NameTable {
    override get(key: string) {
      lookups += 1;
      return super.get(key);
    }
  }
  const counted = new Counted([kitchen]);
  const read = readSentence("x".repeat(32_000), counted, [english, german, chinese]);
  expect(read).toMatchObject({ result: "none", reason: { because: "too_long" } });
  expect(lookups).toBeLessThan(50);
});
