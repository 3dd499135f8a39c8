/** Long texts of signs that a parser may look at again and again: each is read in bounded time. */
import { expect, test } from "vitest";
import { discordFormat, discordMarkdown } from "./discord-markdown.ts";
import { markdownContent } from "./parse.ts";
import { split } from "./split.ts";

const HOSTILE = [
  "*",
  "_",
  "[",
  "![",
  ">",
  "- ",
  "> - ",
  "1. ",
  "` ",
  "*a ",
  "a**b",
  "*a_ ",
  "[a](",
  "](x)[",
  "<",
  "|\n",
  "https://a.b/(",
  "[a]: b\n",
  "~~a ",
  "- a\n\n",
  "\t-",
];

/** @returns milliseconds of processor time */
function cost(unit: string, chars: number): number {
  const text = unit.repeat(chars / unit.length);
  const began = process.cpuUsage();
  const parts = split(markdownContent(text), discordFormat, 2_000);
  const { user, system } = process.cpuUsage(began);
  expect(Array.isArray(parts)).toBe(true);
  return (user + system) / 1_000;
}

test("C1: four times the text takes no more than eight times the processor time, and no depth loses any", () => {
  for (const unit of HOSTILE) {
    cost(unit, 8_000);
    const least = Math.min(cost(unit, 8_000), cost(unit, 8_000));
    // Sixteen times it would be with a text that is read again for each of its signs.
    expect(cost(unit, 32_000), JSON.stringify(unit)).toBeLessThan(8 * least + 100);
  }
  const deep = `${"> ".repeat(500)}deep`;
  expect(discordMarkdown(markdownContent(deep).blocks)).toContain("deep");
});
