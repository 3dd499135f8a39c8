import { expect, test } from "vitest";
import { askedText, fold, numberForms, stem, wordsOf } from "./words.ts";

test.each<[string, string[]]>([
  ["wz-lampe-2", ["wz", "lampe", "2"]],
  ["shelly_plug_03", ["shelly", "plug", "3"]],
  ["pi4-garage", ["pi4", "pi", "4", "garage"]],
  ["HQ_F2_ZoneA_Light_02", ["hq", "f2", "zone", "a", "light", "2"]],
  ["desk-1b3", ["desk", "1b3"]],
  ["Küche, Straße, Détecteur", ["kueche", "strasse", "detecteur"]],
  ["the car park", ["the", "carpark"]],
  ["old hi-fi", ["hifi", "old", "hi", "fi"]],
  ["łazienka, Køkken, Işık, Đèn phòng", ["lazienka", "kokken", "isik", "den", "phong"]],
  ["浴室灯", ["浴室灯", "浴室", "室灯", "浴", "室", "灯"]],
  ["3号灯 Tür", ["3", "号灯", "号", "灯", "tuer"]],
  ["", []],
])("V13: words of %s", (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test.each([
  ["charging", "charge"],
  ["closing", "close"],
  ["lamps", "lamp"],
  ["batteries", "battery"],
  ["dishes", "dish"],
  ["running", "run"],
  ["printed", "print"],
])("%s and %s have one stem", (one, other) => {
  expect(stem(one)).toBe(stem(other));
});

test.each([
  ["plane", "plan"],
  ["bus", "bu"],
  ["lens", "len5"],
])("%s and %s have different stems", (one, other) => {
  expect(stem(one)).not.toBe(stem(other));
});

test.each<[string, string[]]>([
  ["Is it too warm in the kitchen?", ["warm", "kitchen"]],
  ["dim the lamp to 20 percent", ["dim", "lamp"]],
  ["did the backup run last night", ["backup", "run"]],
  ["lathe number 2", ["lathe", "2"]],
  ["how is it", []],
  ["厨房里的灯", ["厨房", "灯"]],
  ["リビングの温度", ["リヒ", "ヒン", "ンク", "温度"]],
  ["lampa w łazience", ["lampa", "lazience"]],
])("%s asks for %j", (text, words) => {
  expect(askedText(text)).toEqual(words);
});

test("a rank stands for its number", () => {
  expect(numberForms("second")).toEqual(["2nd", "2"]);
  expect(numberForms("three")).toEqual(["3"]);
  expect(numberForms("lamp")).toEqual([]);
});

test("a letter that is folded by a list becomes what Unicode's tables make of it", () => {
  const byTables = (text: string) =>
    // A sign beyond all lists has the text folded by the tables.
    fold(`${text}\u{1d7d7}`).slice(0, -1);
  // Each sign near the lists, and some of all others.
  for (let code = 0; code < 0x3_0000; code += code < 0x600 ? 1 : 97) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const text = `a${String.fromCodePoint(code)}é厨`;
    if (fold(text) !== byTables(text))
      expect({ code, folded: fold(text) }).toEqual({ code, folded: byTables(text) });
  }
});
