/** A notice that is kept as what it says, in the words of one reader's language. Pure. */
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { saidText, say } from "@edgecall/core/phrases/said-text.ts";
import type { Notice } from "./api/notices.ts";

/** @returns the same notice where it has only a text */
export function noticeIn<N extends Notice>(notice: N, phrases: Phrases): N {
  if (!notice.said) return notice;
  const { parts, labels, zone } = notice.said;
  return {
    ...notice,
    text: saidText(parts, phrases, zone, notice.at),
    buttons: notice.buttons.map((button, at) => {
      const key = labels[at];
      return key ? { ...button, label: say(phrases, key) } : button;
    }),
  };
}
