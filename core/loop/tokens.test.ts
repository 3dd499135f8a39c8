import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "./history.ts";
import { codePoints, estimateTokens, headOf, textTokens, tokensBeside } from "./tokens.ts";

/** Tokens as GPT-4o (o200k), GPT-4 (cl100k), Llama 3 and Mistral 7B count them, by their own tokenizers. */
const COUNTED: Array<[what: string, text: string, tokens: [number, number, number, number]]> = [
  [
    "English",
    "Facts about a device come only from a tool's result in this conversation: never invent a reading. Say that something is done only when a result says so. When a call failed or its outcome is unknown, say that, and what the person can do.",
    [52, 53, 53, 54],
  ],
  [
    "German",
    "Im Wohnzimmer sind es gerade 21,4 °C bei 48 % Luftfeuchtigkeit. Soll ich die Heizung für heute Abend auf 20 Grad herunterdrehen, oder möchtest du lieber warten, bis alle schlafen gegangen sind?",
    [47, 60, 60, 69],
  ],
  [
    "Russian",
    "Сейчас в гостиной 21,4 °C, влажность 48 %. Хотите, чтобы я вечером уменьшил отопление, или лучше подождать, пока все лягут спать?",
    [42, 62, 48, 62],
  ],
  [
    "Chinese",
    "客厅目前的温度是二十一点四摄氏度，湿度为百分之四十八。今晚要我把暖气调低吗，还是等大家都睡了再说？",
    [42, 63, 41, 58],
  ],
  [
    "Japanese",
    "現在リビングの温度は21.4度で、湿度は48％です。今晩暖房を下げましょうか、それとも皆さんが寝るまで待ちましょうか？",
    [46, 65, 43, 72],
  ],
  [
    "Arabic",
    "درجة الحرارة في غرفة المعيشة الآن 21.4 والرطوبة 48 بالمئة. هل أخفض التدفئة هذا المساء؟",
    [30, 64, 35, 75],
  ],
  [
    "a tool's schema",
    '{"type":"function","function":{"name":"read","description":"Read a file, a part of it, or a folder\'s list. Lines are numbered.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"relative to the root, or absolute"},"offset":{"type":"integer","minimum":1},"limit":{"type":"integer","minimum":1,"maximum":2000}},"required":["path"],"additionalProperties":false}}}',
    [94, 91, 91, 111],
  ],
  [
    "readings",
    '[{"t":1760000000,"temperature":20,"humidity":50},{"t":1760000060,"temperature":20.84,"humidity":51},{"t":1760000120,"temperature":20.91,"humidity":52},{"t":1760000180,"temperature":20.14,"humidity":53},{"t":1760000240,"temperature":19.24,"humidity":54},{"t":1760000300,"temperature":19.04,"humidity":55},{"t":1760000360,"temperature":19.72,"humidity":56},{"t":1760000420,"temperature":20.66,"humidity":57},{"t":1760000480,"temperature":20.99,"humidity":58},{"t":1760000540,"temperature":20.41,"humidity":50}]',
    [170, 170, 170, 288],
  ],
  [
    "a process list",
    "1000  root  0.0% 0.0 MB /usr/lib/systemd/systemd-journald\n1007  root  1.4% 0.9 MB /usr/lib/systemd/systemd-journald\n1014  root  2.7% 1.8 MB /usr/lib/systemd/systemd-journald\n1021  root  4.1% 2.7 MB /usr/lib/systemd/systemd-journald\n1028  root  5.5% 3.6 MB /usr/lib/systemd/systemd-journald\n1035  root  6.9% 4.5 MB /usr/lib/systemd/systemd-journald\n1042  root  8.2% 5.5 MB /usr/lib/systemd/systemd-journald\n1049  root  9.6% 6.4 MB /usr/lib/systemd/systemd-journald",
    [207, 207, 207, 240],
  ],
  [
    "ids",
    "0b1f1c9e-5d0c-4f5e-9a37-4b0f5f3a1c22\n7f3d2a10-88c4-4e0b-b1de-93a0c41f77aa\nc2a9e6d4-1b7f-4c3e-8f52-0d6e5b9a4f18",
    [98, 98, 98, 109],
  ],
  [
    "base64",
    "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
    [66, 67, 67, 81],
  ],
];

test.each(COUNTED)("L16: %s is estimated close to what tokenizers count", (_what, text, counted) => {
  const estimate = textTokens(text);
  const [most, least] = [Math.max(...counted), Math.min(...counted)];
  // A window must not overflow, and a conversation should not lose turns that fit.
  expect(estimate).toBeGreaterThanOrEqual(most * 0.7);
  expect(estimate).toBeLessThanOrEqual(least * 1.9);
});

test("L16: a long text of a history is estimated by pieces of it", () => {
  for (const [, text] of COUNTED) {
    const long = text.repeat(Math.ceil(20_000 / text.length));
    const estimate = estimateTokens([{ role: "user", text: long }]) / textTokens(long);
    expect(estimate).toBeGreaterThan(0.85);
    expect(estimate).toBeLessThan(1.15);
  }
});

test("a call counts with its arguments and its result", () => {
  const outcome = { status: "success" as const, text: "word ".repeat(100), elapsedMs: 1 };
  const call = { id: "1", modelCallId: "1", name: "read", args: { path: "/".repeat(300) } };
  const asks = (more: object): Entry => ({ role: "assistant", text: "", calls: [{ ...call, ...more }] });
  expect(estimateTokens([asks({})])).toBeGreaterThan(100);
  expect(estimateTokens([asks({ outcome })]) - estimateTokens([asks({})])).toBe(textTokens(outcome.text));
});

test("L16: what goes beside the history counts: texts and tools", () => {
  expect(tokensBeside(["", undefined], [])).toBe(0);
  const tools = [{ type: "function", function: { name: "read", parameters: {} } }];
  const both = tokensBeside(["You help.", "Answer now."], tools);
  expect(both).toBe(
    10 + textTokens("You help.") + textTokens("Answer now.") + textTokens(JSON.stringify(tools)),
  );
});

test("property: code points as the language counts them, and the head of any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(30), (text, count) => {
      const points = Array.from(text);
      expect(codePoints(text)).toBe(points.length);
      expect(headOf(text, count)).toBe(points.slice(0, count).join(""));
    }),
  );
});
