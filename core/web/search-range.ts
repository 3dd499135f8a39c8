/** The names that each search service uses for a day, week, month or year. */
import type { SearchRange } from "./provider.ts";

/** A service without such a span gets the next longer one. */
const WORDS = {
  brave: { d: "pd", w: "pw", m: "pm", y: "py" },
  tavily: { d: "day", w: "week", m: "month", y: "year" },
  // The service has no year; `t` means any time.
  duckduckgo: { d: "d", w: "w", m: "m", y: "t" },
  glm: { d: "oneDay", w: "oneWeek", m: "oneMonth", y: "oneYear" },
  baidu: { d: "week", w: "week", m: "month", y: "year" },
} as const satisfies Record<string, Record<SearchRange, string>>;

export function rangeWord(service: keyof typeof WORDS, range: SearchRange): string {
  return WORDS[service][range];
}
