/** Says whether a model is good enough for edgecall, and why not. Pure. */
import type { Habit } from "./habits.ts";

/** @param rows the results of the flows: `ok`, or what went wrong @returns `bad`: what edgecall cannot make up for */
export function verdictOf(
  habits: readonly Habit[],
  rows: ReadonlyArray<{ flow: string; result: string }>,
): { isGood: boolean; text: string; bad: string[] } {
  const bad = [
    ...habits.flatMap(({ habit, seen, isBad }) => (isBad ? [`${habit}: ${seen}`] : [])),
    ...rows.flatMap(({ flow, result }) => (result === "ok" ? [] : [`${flow}: ${result}`])),
  ];
  if (bad.length === 0)
    return { isGood: true, bad, text: "This model is good enough: it calls tools, and says what is so." };
  return {
    isGood: false,
    bad,
    text: ["This model is not good enough:", ...bad.map((one) => `  - ${one}`)].join("\n"),
  };
}
