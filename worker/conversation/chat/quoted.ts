/** What a message replies to, in words for the model, with whose words those are. */
import { type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import type { Quoted } from "../../api/chat.ts";
import { strangersWords } from "../../channels/strangers-words.ts";
import type { ConversationContext } from "../context.ts";

/** Messages of ours that a person can reply to, on a platform that names them by their ids alone. */
const SENT_KEPT = 100;

export function quotedWords(
  context: ConversationContext,
  quoted: Quoted,
): { words: string; sources: Source[] } {
  const text = quoted.text ?? sentText(context, quoted.message);
  if (quoted.by === "others") return { words: strangersWords("quoted", text ?? ""), sources: [STRANGER] };
  if (quoted.by === "person")
    return { words: `[It replies to the person's own message${said(text)}]`, sources: [] };
  // What we said may be a device's words. Those of an answer that stands here taint this conversation already.
  const isKnown = text === undefined || stands(context, text);
  return { words: `[It replies to your own message${said(text)}]`, sources: isKnown ? [] : [STRANGER] };
}

function said(text: string | undefined): string {
  return text === undefined ? ", which is not known here any more" : `: ${JSON.stringify(text)}`;
}

/** As far as letters and digits: the platform wrote the markup. */
function stands({ transcript }: ConversationContext, text: string): boolean {
  const wanted = lettersOf(text);
  return transcript.turns().some(({ answer }) => answer !== null && lettersOf(answer).includes(wanted));
}

function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, "");
}

type Kept = Pick<ConversationContext, "ctx" | "tables">;

/** @param message the platform's id of a message of ours */
export function keepSent({ ctx, tables }: Kept, message: string, text: string): void {
  tables.need("sent");
  const { sql } = ctx.storage;
  const [row] = sql
    .exec<{ n: number }>(
      "INSERT OR REPLACE INTO sent (message, text) VALUES (?, ?) RETURNING n",
      message,
      text,
    )
    .toArray();
  sql.exec("DELETE FROM sent WHERE n <= ?", (row?.n ?? 0) - SENT_KEPT);
}

function sentText({ ctx, tables }: Kept, message: string | undefined): string | undefined {
  if (message === undefined || !tables.has("sent")) return undefined;
  return ctx.storage.sql
    .exec<{ text: string }>("SELECT text FROM sent WHERE message = ?", message)
    .toArray()[0]?.text;
}

/** The conversation begins anew. */
export function forgetSent({ ctx, tables }: Kept): void {
  if (tables.has("sent")) ctx.storage.sql.exec("DELETE FROM sent");
}
