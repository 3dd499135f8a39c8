import fc from "fast-check";
import { expect, test } from "vitest";
import { OUTPUT_TAIL_MAX_BYTES, OutputTail } from "./output-tail.ts";

const bytes = (text: string) => new TextEncoder().encode(text).length;

test("output that fits is kept unchanged, without blank ends", () => {
  const tail = new OutputTail();
  expect(tail.text()).toBe("");
  tail.add("\none\n");
  tail.add("two\n\n");
  expect(tail.text()).toBe("one\ntwo");
});

test("of longer output the end is kept, and the cut is mentioned", () => {
  const tail = new OutputTail();
  for (let line = 0; line < 10_000; line += 1) tail.add(`line ${line}\n`);
  const [notice, ...lines] = tail.text().split("\n");
  expect(notice).toBe(`[Cut: the last ${OUTPUT_TAIL_MAX_BYTES} bytes are shown.]`);
  expect(lines.at(-1)).toBe("line 9999");
  expect(bytes(lines.join("\n"))).toBeLessThanOrEqual(OUTPUT_TAIL_MAX_BYTES);
  expect(bytes(lines.join("\n"))).toBeGreaterThan(OUTPUT_TAIL_MAX_BYTES - 20);
});

test("property: however it is split, it is the end of the output, within the limit, in whole characters", () => {
  const piece = fc.string({ unit: fc.constantFrom("a", "ü", "€", "🌡"), maxLength: 20 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), fc.integer({ min: 8, max: 40 }), (pieces, max) => {
      const tail = new OutputTail(max);
      for (const part of pieces) tail.add(part);
      const all = pieces.join("");
      if (bytes(all) <= max) {
        expect(tail.text()).toBe(all);
        return;
      }
      const shown = tail.text().slice(tail.text().indexOf("\n") + 1);
      expect(all.endsWith(shown)).toBe(true);
      expect(bytes(shown)).toBeLessThanOrEqual(max);
      expect(bytes(shown)).toBeGreaterThan(max - 4);
    }),
  );
});
