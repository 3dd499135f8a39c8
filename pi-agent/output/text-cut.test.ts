import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { casesOf, type TextCase, textOfCase } from "../testing/cases.ts";
import {
  type Cut,
  cutNotice,
  formatSize,
  truncateHead,
  truncateLine,
  truncateTail,
  withNotice,
} from "./text-cut.ts";

/** A cut in the form of the cases. */
function inCaseText({ content, by, shown, total, partialLine }: Cut): Record<string, unknown> {
  return {
    content,
    by,
    truncated: by !== null,
    totalLines: total.lines,
    totalBytes: total.bytes,
    outputLines: shown.lines,
    outputBytes: shown.bytes,
    firstLineExceedsLimit: by === "bytes" && shown.lines === 0,
    lastLinePartial: partialLine,
  };
}

function given(tool: string, input: Record<string, unknown>): Record<string, unknown> {
  if (tool === "format_size") return { text: formatSize(Number(input.bytes)) };
  const text = textOfCase(input.text as TextCase);
  if (tool === "truncate_line") {
    const cut = truncateLine(text, Number(input.maxChars));
    return { truncated: cut.truncated, length: cut.text.length };
  }
  const limits = input as { maxLines?: number; maxBytes?: number };
  return inCaseText(tool === "truncate_head" ? truncateHead(text, limits) : truncateTail(text, limits));
}

describe("cases", () => {
  for (const { id, title, tool, input, expect: wanted } of casesOf("text_cut"))
    test(`${id}: ${title}`, () => expect(given(tool, input)).toMatchObject(wanted));
});

test("a final newline does not begin another line", () => {
  expect(truncateHead("a\nb\n", { maxLines: 2 })).toMatchObject({ by: null, total: { lines: 2, bytes: 4 } });
  expect(truncateHead("a\nb\n\n", { maxLines: 2 })).toMatchObject({ by: "lines", content: "a\nb" });
  expect(truncateTail("a\nb\n", { maxLines: 1 })).toMatchObject({ by: "lines", content: "b" });
});

test("property: a cut keeps whole lines from one end, within its limits", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "é", "😀", "\n", "bb"), maxLength: 60 });
  const limit = fc.integer({ min: 1, max: 20 });
  fc.assert(
    fc.property(text, limit, limit, (whole, maxLines, maxBytes) => {
      for (const [cut, fits] of [
        [truncateHead(whole, { maxLines, maxBytes }), whole.startsWith.bind(whole)],
        [
          truncateTail(whole, { maxLines, maxBytes }),
          whole.replace(/\n$/, "").endsWith.bind(whole.replace(/\n$/, "")),
        ],
      ] as const) {
        // No line is missing; at most the final newline is, if only it did not fit.
        const fitsWhole = Buffer.byteLength(whole) <= maxBytes;
        if (cut.by === null) expect(cut.content).toBe(fitsWhole ? whole : whole.replace(/\n$/, ""));
        else expect(fits(cut.content), JSON.stringify({ whole, cut })).toBe(true);
        expect(Buffer.byteLength(cut.content)).toBe(cut.shown.bytes);
        expect(cut.shown.bytes).toBeLessThanOrEqual(maxBytes);
        expect(cut.shown.lines).toBeLessThanOrEqual(maxLines);
        expect(cut.content).not.toContain("\ufffd");
      }
    }),
    { numRuns: 1_000 },
  );
});

test("a line is not cut within a character", () => {
  expect(truncateLine("ab😀cd", 3)).toEqual({ text: "ab... [truncated]", truncated: true });
  expect(truncateLine("ab😀cd", 4)).toEqual({ text: "ab😀... [truncated]", truncated: true });
});

test("the notice has one form", () => {
  expect(cutNotice({ what: "lines", first: 1, last: 9, of: 20, next: "Use offset=10 to continue." })).toBe(
    "[Showing lines 1-9 of 20. Use offset=10 to continue.]",
  );
  expect(cutNotice({ what: "matches", first: 1, last: 9, limitBytes: 51_200, next: "Use x." })).toBe(
    "[Showing matches 1-9 of more (50.0KB limit). Use x.]",
  );
  expect([withNotice("", "[n]"), withNotice("a", "[n]"), withNotice("a\n", "[n]")]).toEqual([
    "[n]",
    "a\n\n[n]",
    "a\n\n[n]",
  ]);
  expect(formatSize(5 * 1024 ** 3)).toBe("5.0GB");
});

test.each([
  [1_023, "1023B"],
  [1_024, "1.0KB"],
  [1_048_524, "1023.9KB"],
  [1_048_525, "1.0MB"],
  [1_048_575, "1.0MB"],
  [1_073_741_823, "1.0GB"],
  [1_099_511_627_775, "1024.0GB"],
])("S21 a size just below the next unit is written in that unit: %d", (bytes, text) => {
  expect(formatSize(bytes)).toBe(text);
});

test.each([truncateHead, truncateTail])("S21 a final newline that does not fit cuts no line", (truncate) => {
  expect(truncate("aa\nbb\n", { maxBytes: 5 })).toMatchObject({ content: "aa\nbb", by: null });
  expect(truncate("aaaaa\n", { maxBytes: 5 })).toMatchObject({
    content: "aaaaa",
    by: null,
    partialLine: false,
  });
  expect(truncate("aaaaaa\n", { maxBytes: 5 })).toMatchObject({ by: "bytes" });
});
