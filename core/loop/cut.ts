/** Replies that are not whole: the model reached a limit, a filter stopped it, or the endpoint failed in the middle. */
import type { Cut } from "./history.ts";
import type { ModelReply } from "./reply.ts";
import { ModelError } from "./retry.ts";

/** The words of endpoints for it, in any case. */
const WORDS: Record<Cut | "error", RegExp> = {
  length: /^(length|model_length|max_(output_)?tokens|model_context_window_exceeded)$/i,
  content_filter: /^(content_?filter(ed)?|safety|refusal|recitation|blocklist|prohibited_content|spii)$/i,
  error: /^error$/i,
};

/** @returns undefined: the reply is whole, as far as its endpoint says */
export function cutOf({ finish = "" }: Pick<ModelReply, "finish">): Cut | undefined {
  if (WORDS.length.test(finish)) return "length";
  return WORDS.content_filter.test(finish) ? "content_filter" : undefined;
}

/**
 * Returns a reply that the endpoint did not break off. Nothing of one that it did is used: its calls may be half of what the
 * model wanted.
 * @throws ModelError, after which the step is tried again
 */
export function unbroken<R extends Pick<ModelReply, "finish" | "model">>(reply: R): R {
  if (!WORDS.error.test(reply.finish ?? "")) return reply;
  throw new ModelError("now", `the endpoint of the model ${reply.model} failed in the middle of its reply`);
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
