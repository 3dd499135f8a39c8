/** Replies that are not whole: the model reached a limit, or a filter stopped it. */
import type { Cut } from "./history.ts";
import type { ModelReply } from "./model-reply.ts";

const CUTS: readonly Cut[] = ["length", "content_filter"];

/** @returns undefined: the reply is whole, as far as its endpoint says */
export function cutOf({ finish }: Pick<ModelReply, "finish">): Cut | undefined {
  return CUTS.find((cut) => cut === finish);
}

/** Returns an answer with a line below it that says that it is cut. The text itself stays: its client may have it already. */
export function withCutLine(text: string, cut: Cut | undefined): string {
  if (cut === undefined) return text;
  const why = {
    length: "the model reached MAX_TOKENS",
    content_filter: "a content filter of the model's endpoint stopped it",
  }[cut];
  return `${text}\n\n[The answer was cut: ${why}.]`;
}
