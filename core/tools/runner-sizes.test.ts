/** The size of a result that leaves the runner. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "../protocol/parse.ts";
import { defineTool, faultResult, type ToolResult, textOf, textResult } from "./contract.ts";
import { ToolRegistry } from "./registry.ts";
import { cutText, RESULT_IMAGE_MAX_BYTES, RESULT_TEXT_MAX_BYTES, runTool } from "./runner.ts";

const bytes = (text: string) => new TextEncoder().encode(text).length;
const SIGNS = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The signs that people see, as many as fit. */
function wholeSigns(text: string, maxBytes: number): string {
  let whole = "";
  for (const { segment } of SIGNS.segment(text)) {
    if (bytes(whole + segment) > maxBytes) break;
    whole += segment;
  }
  return whole;
}
const withContent = (result: ToolResult) => {
  const tool = defineTool({
    name: "read",
    description: "Reads",
    input: z.strictObject({}),
    effect: "read",
    idempotent: true,
    timeoutMs: 5_000,
    maxTimeoutMs: 10_000,
    execute: async () => result,
  });
  const caller = { principal: "ada", role: "owner", channel: "test" };
  return runTool(new ToolRegistry([tool]), { callId: "c1", name: "read", args: {}, caller });
};

describe("sizes", () => {
  test("text that fits is unchanged", async () => {
    const text = "ü".repeat(RESULT_TEXT_MAX_BYTES / 2);
    expect(textOf((await withContent(textResult(text))).result)).toBe(text);
  });

  test("text is cut at a whole character, by bytes, and the cut is mentioned", async () => {
    const text = `x${"🌡".repeat(20_000)}`;
    const cut = textOf((await withContent(textResult(text))).result);
    const [head, notice] = cut.split("\n");
    expect(head).toMatch(/^x🌡+$/u);
    expect(bytes(head ?? "")).toBe(RESULT_TEXT_MAX_BYTES - 3);
    expect(notice).toBe("[Cut: 51200 of 80001 bytes shown.]");
  });

  test("the parts share one size", async () => {
    const part = { type: "text" as const, text: "q".repeat(40_000) };
    const { result } = await withContent({ content: [part, part, part] });
    const shown = textOf(result).replaceAll(/[^q]/g, "").length;
    expect(shown).toBe(RESULT_TEXT_MAX_BYTES);
  });

  test("the text for the person and the log is bounded too", async () => {
    const long = "z".repeat(100_000);
    const { result } = await withContent({ ...faultResult("io", long), forUser: long });
    const bound = RESULT_TEXT_MAX_BYTES + 100;
    expect(result.forUser?.length).toBeLessThan(bound);
    expect(result.fault?.message.length).toBeLessThan(bound);
  });

  test("an image that is too large is replaced by a text", async () => {
    const image = (length: number) => ({
      type: "image" as const,
      mediaType: "image/png",
      data: "A".repeat(length),
    });
    const fits = image(RESULT_IMAGE_MAX_BYTES);
    const { result } = await withContent({ content: [fits, image(RESULT_IMAGE_MAX_BYTES + 1)] });
    expect(result.content[0]).toEqual(fits);
    expect(result.content[1]).toEqual({ type: "text", text: "[image of 65537 bytes left out: over 65536]" });
  });

  test("cutText: never over the size, always a beginning, as many whole signs as fit", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(40), (text, max) => {
        const cut = cutText(text, max);
        if (bytes(text) <= max) {
          expect(cut).toBe(text);
          return;
        }
        const head = cut.slice(0, cut.lastIndexOf("\n[Cut: "));
        const whole = wholeSigns(text, max);
        if (whole !== "") {
          expect(head).toBe(whole);
          return;
        }
        // A sign that does not fit alone is cut between characters, of at most 4 bytes.
        expect(bytes(head)).toBeLessThanOrEqual(max);
        expect(bytes(head)).toBeGreaterThan(max - 4);
        expect(text.startsWith(head)).toBe(true);
      }),
      // A space with a mark on it: a sign of 5 bytes.
      { examples: [["\0 \u{E0020}", 5]] },
    );
  });
});
