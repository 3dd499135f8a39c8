/** A day, week, month or year, in the words of each search service. */
import type { SearchRange } from "./provider.ts";

/** Where a service knows no such span, the next longer one. */
const WORDS = {
  brave: { d: "pd", w: "pw", m: "pm", y: "py" },
  tavily: { d: "day", w: "week", m: "month", y: "year" },
  // It has no year; `t` stands for any time.
  duckduckgo: { d: "d", w: "w", m: "m", y: "t" },
  glm: { d: "oneDay", w: "oneWeek", m: "oneMonth", y: "oneYear" },
  baidu: { d: "week", w: "week", m: "month", y: "year" },
} as const satisfies Record<string, Record<SearchRange, string>>;

export function rangeWord(service: keyof typeof WORDS, range: SearchRange): string {
  return WORDS[service][range];
}
