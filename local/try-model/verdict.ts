/** Says whether a model is good enough for edgecall, and why not. Pure. */
import type { Habit } from "./habits.ts";

/** @param rows the results of the flows: `ok`, or what went wrong */
export function verdictOf(
  habits: readonly Habit[],
  rows: ReadonlyArray<{ flow: string; result: string }>,
): { isGood: boolean; text: string } {
  const bad = [
    ...habits.flatMap(({ habit, seen, isBad }) => (isBad ? [`${habit}: ${seen}`] : [])),
    ...rows.flatMap(({ flow, result }) => (result === "ok" ? [] : [`${flow}: ${result}`])),
  ];
  if (bad.length === 0)
    return { isGood: true, text: "This model is good enough: it calls tools, and says what is so." };
  return {
    isGood: false,
    text: ["This model is not good enough:", ...bad.map((one) => `  - ${one}`)].join("\n"),
  };
}
