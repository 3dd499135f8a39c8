/** Tells the model what a message replies to, and whose words those are. */
import { type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { ownText, quotedText, repliesToUs } from "../../../kernel/api/quoted-text.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import type { Quoted } from "../contract.ts";
import { findDelivery, idOfSent } from "./deliveries.ts";

/** The model has the whole of it above. */
const STORED_CHARS = 4_000;

export function describeQuoted(
  context: ConversationContext,
  quoted: Quoted,
): { words: string; sources: Source[] } {
  const text = quoted.text ?? storedText(context, quoted);
  if (quoted.by === "others") return { words: quotedText("quoted", text ?? ""), sources: [STRANGER] };
  if (quoted.by === "person") {
    const said = text === undefined ? "" : `: ${JSON.stringify(text)}`;
    return { words: `[It replies to the person's own message${said}]`, sources: [] };
  }
  // What we said may be a device's words. Those of an answer that stands here taint this conversation already.
  const isKnown = text === undefined || stands(context, text);
  return { words: repliesToUs(text), sources: isKnown ? [] : [STRANGER] };
}

/** Compares letters and digits alone: the platform wrote the markup. */
function stands({ transcript }: ConversationContext, text: string): boolean {
  const wanted = lettersOf(text);
  return transcript.turns().some(({ answer }) => answer !== null && lettersOf(answer).includes(wanted));
}

function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, "");
}

/** The words of a message that the platform names alone: our answer, or what the person asked. */
function storedText(context: ConversationContext, { by, message }: Quoted): string | undefined {
  if (message === undefined) return undefined;
  const { transcript } = context;
  const known = findDelivery(context, by === "us" ? idOfSent(message) : message);
  const turn = transcript.turn(known?.turn ?? "");
  const [asked] = turn && by === "person" ? transcript.entriesOf(turn.n) : [];
  const text = asked?.role === "user" ? ownText(asked.text).trim() : turn?.answer;
  return text ? cutText(text, STORED_CHARS) : undefined;
}
