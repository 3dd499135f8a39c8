import fc from "fast-check";
import { expect, test } from "vitest";
import { headAndTail, hiddenNotice, visible, visibleJson } from "./visible.ts";

test.each([
  ["a bidirectional override", "ls \u202e#fr- mr", "ls \\u202e#fr- mr"],
  ["an isolate", "\u2066x\u2069", "\\u2066x\\u2069"],
  ["zero width", "r\u200bm\u200d\u2060\ufeff", "r\\u200bm\\u200d\\u2060\\ufeff"],
  ["tag characters", "hi\u{e0072}\u{e006d}", "hi\\u{e0072}\\u{e006d}"],
  ["variation selectors", "a\ufe00\u{e0100}", "a\\ufe00\\u{e0100}"],
  ["controls of C0 and C1", "\u001b[2K\u0007\u009b1A\u007f\r", "\\u001b[2K\\u0007\\u009b1A\\u007f\\u000d"],
  ["separators of lines", "a\u2028b\u2029c\u0085d", "a\\u2028b\\u2029c\\u0085d"],
  ["spaces that are none", "rm\u00a0-rf\u3000\u2003/", "rm\\u00a0-rf\\u3000\\u2003/"],
  ["fillers", "\u3164\u115f\u2800\u00ad\u034f", "\\u3164\\u115f\\u2800\\u00ad\\u034f"],
  ["a lone surrogate", "a\ud800b", "a\\ud800b"],
  ["a selector at the wrong place", "r\ufe0fm", "r\\ufe0fm"],
])("S2 %s is written as an escape", (_, text, shown) => {
  expect(visible(text)).toBe(shown);
  expect(hiddenNotice({ nested: [text] })).toMatch(/^Contains characters that cannot be seen.*U\+/);
});

test.each(["", "rm -rf /tmp/x\n\tls", "naïve 漢字 العربية", "❤️ 👨‍👩‍👧 👍🏽 ☎", "\\u202e"])(
  "S2 %j is unchanged",
  (text) => {
    expect(visible(text)).toBe(text);
    expect(hiddenNotice([text, 5, null])).toBeUndefined();
  },
);

test.each([
  ["an acute", "\u0301"],
  ["an enclosing circle", "\u20dd"],
  ["Hebrew points", "\u05b0"],
  ["Arabic marks", "\u064b"],
  ["musical marks", "\u{1d165}"],
])("S27: of 200 marks on one letter (%s), four are shown as they are", (_, mark) => {
  const shown = visible(`a${mark.repeat(200)} b`);
  expect(shown.split(mark)).toHaveLength(5);
  expect(shown.match(/\\u/g)).toHaveLength(196);
  expect(shown.endsWith(" b")).toBe(true);
  expect(hiddenNotice(`a${mark.repeat(200)}`)).toContain("cannot be seen");
  expect(JSON.parse(visibleJson(`a${mark.repeat(200)}`))).toBe(`a${mark.repeat(200)}`);
});

test.each(["é ö ñ", "e\u0301 o\u0302\u0301", "שָׁלוֹם", "مُحَمَّد", "नमस्ते किं", "กำลัง", "tiếng Việt", "1\u20e3"])(
  "S27: the marks of a language stay: %s",
  (text) => {
    expect(visible(text)).toBe(text);
  },
);

test("S2 in JSON an escape differs from a backslash; parameter names are escaped too", () => {
  expect(visibleJson({ a: "\u202e", b: "\\u202e" })).toBe('{"a":"\\u202e","b":"\\\\u202e"}');
  fc.assert(
    fc.property(fc.json({ stringUnit: "binary" }), (json) => {
      expect(JSON.parse(visibleJson(JSON.parse(json)))).toEqual(JSON.parse(json));
    }),
  );
  expect(visibleJson("\u{e0072}")).toBe('"\\udb40\\udc72"');
  expect(hiddenNotice({ "pa\u200bth": 1 })).toContain("U+200B");
  expect(hiddenNotice("\u001b\u0001\u0002\u0003\u0004\u0005\u0006\u0007")).toContain("and 2 more kinds");
});

test("S2 any text: nothing invisible remains, a second run changes nothing, and it takes linear time", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const once = visible(text);
      expect(visible(once)).toBe(once);
      expect(hiddenNotice(once)).toBeUndefined();
    }),
  );
  for (const piece of ["\u202e", "👨\u200d", "❤\ufe0f", " ", "\ud800"]) {
    const began = performance.now();
    visible(piece.repeat(30_000));
    expect(performance.now() - began).toBeLessThan(1_000);
  }
});

test("S3 a long text is shown as its head, its tail, and the length between", () => {
  expect(headAndTail("short", { chars: 10, lines: 3 })).toBeUndefined();
  expect(headAndTail("0123456789x", { chars: 10 })).toEqual({ head: "01234", tail: "6789x", between: 1 });
  const lines = Array.from({ length: 10 }, (_, at) => `line ${at}`).join("\n");
  expect(headAndTail(lines, { chars: 1_000, lines: 4 })).toEqual({
    head: "line 0\nline 1\n",
    tail: "line 8\nline 9",
    between: 42,
  });
  expect(headAndTail(lines, { chars: 1_000, lines: 10 })).toBeUndefined();
  expect(headAndTail("𐀀\u0000𐀀𐀀", { chars: 6 })).toBeUndefined();
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 2, max: 20 }), (text, chars) => {
      const cut = headAndTail(text, { chars, lines: 3 });
      if (!cut) return;
      expect(cut.head.length + cut.between + cut.tail.length).toBe(text.length);
      expect(text.startsWith(cut.head) && text.endsWith(cut.tail)).toBe(true);
      expect(cut.between).toBeGreaterThan(0);
    }),
  );
});
