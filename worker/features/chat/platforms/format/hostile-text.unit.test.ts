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

/** One of three tries is: a collection of garbage or a busy neighbour on the processor makes a try longer, and none shorter. */
function costWithin(ms: number, unit: string, chars: number): boolean {
  return [1, 2, 3].some(() => cost(unit, chars) < ms);
}

test("C1: four times the text takes no more than eight times the processor time, and no depth loses any", () => {
  for (const unit of HOSTILE) {
    cost(unit, 8_000);
    const short = Math.min(cost(unit, 8_000), cost(unit, 8_000));
    // Sixteen times it would be with a text that is read again for each of its signs.
    expect(costWithin(8 * short + 100, unit, 32_000), JSON.stringify(unit)).toBe(true);
  }
  const deep = `${"> ".repeat(500)}deep`;
  expect(discordMarkdown(markdownContent(deep).blocks)).toContain("deep");
});
