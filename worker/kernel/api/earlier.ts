/** The answers of earlier turns below the answer of a later one. */
import { oneLine } from "@edgecall/core/tools/one-line.ts";
import type { EarlierTurn } from "./answers.ts";

const ASKED_MAX_CHARS = 80;

/** @returns "" when there are none */
export function earlierText(earlier: readonly EarlierTurn[] = []): string {
  return earlier
    .map(({ text, answer }) => {
      const asked = text === "" ? "Earlier" : `To "${oneLine(text, ASKED_MAX_CHARS)}"`;
      return `${asked}: ${answer ?? ""}`;
    })
    .join("\n\n");
}
